import { describe, expect, test } from "bun:test";
import type { TaskView } from "../../../cli/client/answer.ts";
import type { Trouble } from "../../../cli/client/retry.ts";
import { awaitTask, verdictOf } from "../../../cli/client/wait.ts";
import { EXIT } from "../../../cli/exit-codes.ts";
import { Failure } from "../../../cli/failure.ts";
import { formatDuration, formatSize, parseDuration } from "../../../cli/format/units.ts";
import { fakeTiming } from "../support.ts";

const task = (status: string, more: object = {}): TaskView => ({ task_id: "task_1", status, ...more });
const signal = new AbortController().signal;

/** In place of a status: why there is none. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  gone: { retry: "seldom", failure: new Failure(EXIT.unreachable, "server_unreachable", "Gone.") },
  defect: {
    retry: "no",
    failure: new Failure(EXIT.error, "internal_error", "Oh.", { more: { status: 500 } }),
  },
  refused: {
    retry: "no",
    failure: new Failure(EXIT.auth, "invalid_api_key", "No.", { more: { status: 401 } }),
  },
};

/** A server whose task takes the given states one after the other, each request lasting `tookMs`. */
function setup(statuses: readonly string[], tookMs: (waitSec: number) => number) {
  const timing = fakeTiming();
  const waits: number[] = [];
  const client = {
    async readStatus(_kind: "image" | "video", _id: string, { waitSec }: { waitSec: number }) {
      const status = statuses[Math.min(waits.length, statuses.length - 1)] ?? "pending";
      waits.push(waitSec);
      await timing.sleep(tookMs(waitSec), signal);
      timing.slept.pop();
      const trouble = TROUBLES[status];
      return trouble === undefined
        ? { ok: true as const, value: task(status) }
        : { ok: false as const, ...trouble };
    },
  };
  const troubles: string[] = [];
  const onTrouble = ({ code }: Failure) => troubles.push(code);
  const wait = (timeoutMs: number, onRead?: (seen: TaskView) => void) =>
    awaitTask(client, { kind: "image", id: "task_1", timeoutMs, timing, signal, onRead, onTrouble });
  return { wait, waits, timing, troubles };
}

describe("waiting", () => {
  test("asks the server to wait, half a minute at most, and not beyond the end", async () => {
    const { wait, waits, timing } = setup(["pending"], (sec) => sec * 1000);
    expect(await wait(70_000)).toEqual(task("pending"));
    expect(waits).toEqual([30, 30, 10]);
    expect(timing.slept).toEqual([]);
  });

  test("ends as soon as the task has", async () => {
    for (const end of ["completed", "failed", "cancelled"]) {
      const { wait, waits } = setup(["pending", "processing", end], () => 2000);
      expect(await wait(600_000)).toEqual(task(end));
      expect(waits).toHaveLength(3);
    }
  });

  test("backs off when the server does not wait", async () => {
    const { wait, waits, timing } = setup(["pending"], () => 0);
    await wait(5_000);
    expect(timing.slept).toEqual([250, 500, 1000, 2000, 1250]);
    expect(waits).toHaveLength(6);
  });

  test("goes on through a status nobody has heard of", async () => {
    const { wait } = setup(["queued_elsewhere", "completed"], () => 2000);
    expect(await wait(60_000)).toEqual(task("completed"));
  });

  test("outlives a server that is gone for a while, or makes mistakes", async () => {
    const { wait, timing, troubles } = setup(["pending", "gone", "gone", "defect", "completed"], () => 2000);
    expect(await wait(600_000)).toEqual(task("completed"));
    expect(timing.slept).toEqual([250, 500, 1000]);
    expect(troubles).toEqual(["server_unreachable", "server_unreachable", "internal_error"]);
  });

  test("gives up on a server that is gone when the time is up, and at once on a refusal", async () => {
    const gone = setup(["pending", "gone"], () => 0);
    expect(gone.wait(5_000)).rejects.toMatchObject({ exitCode: EXIT.unreachable });
    const refused = setup(["pending", "refused"], () => 0);
    expect(refused.wait(5_000)).rejects.toMatchObject({ exitCode: EXIT.auth });
  });

  test("tells of every state it saw", async () => {
    const { wait } = setup(["pending", "processing", "completed"], () => 2000);
    const seen: string[] = [];
    await wait(60_000, ({ status }) => seen.push(status));
    expect(seen).toEqual(["pending", "processing", "completed"]);
  });
});

test("how a task ended decides the exit code", () => {
  expect(verdictOf(task("completed"), 1000)).toBeUndefined();
  expect(verdictOf(task("cancelled"), 1000)?.exitCode).toBe(10);
  expect(verdictOf(task("processing"), 1000)).toMatchObject({
    exitCode: 9,
    message: "task_1 is still processing after 1 s.",
  });
  const image = task("failed", { error_code: "CONTENT_MODERATED", error_message: "Refused." });
  const video = task("failed", { error_code: "NEW_CODE", error: "Lost." });
  expect(verdictOf(image, 0)).toMatchObject({
    exitCode: 3,
    code: "CONTENT_MODERATED",
    message: "task_1 failed: Refused.",
  });
  expect(verdictOf(video, 0)).toMatchObject({
    exitCode: 3,
    code: "NEW_CODE",
    message: "task_1 failed: Lost.",
  });
});

test("durations and sizes are written as people write them", () => {
  expect(["5", "0.5", "90s", "10m", "1h30m", "250ms", "2d"].map(parseDuration)).toEqual([
    5000, 500, 90_000, 600_000, 5_400_000, 250, 172_800_000,
  ]);
  for (const wrong of ["", "-1", "1x", "m", "1 m", "10m!"])
    expect(() => parseDuration(wrong)).toThrow("is not a duration");
  expect([340, 999.7, 4200, 59_990, 60_000, 200_000].map(formatDuration)).toEqual([
    "340 ms",
    "1 s",
    "4.2 s",
    "1 m",
    "1 m",
    "3 m 20 s",
  ]);
  expect([7_500, 30 * 86_400, 129_600].map((seconds) => formatDuration(seconds * 1000))).toEqual([
    "2 h 5 m",
    "30 d",
    "1 d 12 h",
  ]);
  expect([999, 212_000, 1_400_000].map(formatSize)).toEqual(["999 B", "212 KB", "1.4 MB"]);
  expect([82_105_700_000, 3_000_000_000_000_000].map(formatSize)).toEqual(["82.1 GB", "3000 TB"]);
});
