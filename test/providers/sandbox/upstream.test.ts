import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptId, TaskId } from "../../../src/domain/ids.ts";
import type { Spec } from "../../../src/providers/sandbox/spec.ts";
import { type NewOperation, openUpstream, type Upstream } from "../../../src/providers/sandbox/upstream.ts";

const MODULE = join(import.meta.dir, "../../../src/providers/sandbox/upstream.ts");
const DAY_MS = 86_400_000;

let directory: string;
let path: string;
let upstream: Upstream;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-upstream-"));
  path = join(directory, "upstream.db");
  upstream = openUpstream(path);
});
afterEach(() => {
  upstream.stop();
  rmSync(directory, { recursive: true });
});

function operation(id = "sandbox_1"): NewOperation {
  const spec: Spec = {
    generator: "picture",
    label: "m",
    prompt: "A",
    outputs: 1,
    parameters: {},
    inputs: [],
  };
  return {
    id,
    attempt: `att_${id}` as AttemptId,
    taskId: "task_1" as TaskId,
    spec,
    submittedAt: 1_000,
    readyAt: 1_400,
  };
}

test("an operation is found by its id and by its attempt, as it was accepted", () => {
  expect(upstream.accept(operation())).toBe("accepted");
  expect(upstream.find("sandbox_1")).toEqual({ ...operation(), ending: undefined });
  expect(upstream.findByAttempt("att_sandbox_1" as AttemptId)?.id).toBe("sandbox_1");
  expect(upstream.find("sandbox_2")).toBeUndefined();
});

test("an attempt is accepted once; the first stays as it is", () => {
  upstream.accept(operation());
  expect(upstream.accept({ ...operation(), id: "sandbox_2", readyAt: 9 })).toBe("known");
  expect(upstream.find("sandbox_1")?.readyAt).toBe(1_400);
  expect(upstream.find("sandbox_2")).toBeUndefined();
});

test.each([
  { state: "succeeded" },
  { state: "cancelled" },
  { state: "failed", code: "INPUT_INVALID", message: "The mask is opaque." },
  { state: "failed", code: "UPSTREAM_ERROR", message: undefined },
] as const)("an operation ends once, as %j", (ending) => {
  upstream.accept(operation());
  expect(upstream.end("sandbox_1", ending, 2_000)).toBe(true);
  expect(upstream.end("sandbox_1", { state: "succeeded" }, 3_000)).toBe(false);
  expect(upstream.find("sandbox_1")?.ending).toEqual(ending);
});

test("refusals are counted by task, and none is made when none is wanted", () => {
  const refusals = [2, 2, 2].map((times) => upstream.refuse("task_1" as TaskId, times, 0));
  expect(refusals).toEqual([true, true, false]);
  expect(upstream.refuse("task_2" as TaskId, 0, 0)).toBe(false);
});

describe("tidying", () => {
  test("gives the files of what ended ten minutes ago, once, and forgets it after a day", () => {
    upstream.accept(operation());
    upstream.end("sandbox_1", { state: "succeeded" }, 2_000);
    expect(upstream.tidy(2_000 + 600_000)).toEqual([]);
    expect(upstream.tidy(2_001 + 600_000).map(({ id }) => id)).toEqual(["sandbox_1"]);
    expect(upstream.tidy(2_002 + 600_000)).toEqual([]);
    expect(upstream.tidy(DAY_MS)).toEqual([]);
    upstream.tidy(DAY_MS + 1_001);
    expect(upstream.find("sandbox_1")).toBeUndefined();
  });

  test("leaves what runs alone for a week", () => {
    upstream.accept(operation());
    upstream.tidy(7 * DAY_MS);
    expect(upstream.find("sandbox_1")).toBeDefined();
    expect(upstream.tidy(7 * DAY_MS + 1_001).map(({ id }) => id)).toEqual(["sandbox_1"]);
    expect(upstream.find("sandbox_1")).toBeUndefined();
  });
});

test("what was accepted survives the sudden end of the process", async () => {
  const script = `
    import { openUpstream } from ${JSON.stringify(MODULE)};
    const upstream = openUpstream(process.argv[1]);
    upstream.accept(${JSON.stringify(operation("sandbox_killed"))});
    process.kill(process.pid, "SIGKILL");
  `;
  const child = Bun.spawn([process.execPath, "-e", script, path], { stderr: "pipe" });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(upstream.find("sandbox_killed")).toEqual({ ...operation("sandbox_killed"), ending: undefined });
});
