import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptId, TaskId } from "../../../src/domain/ids.ts";
import { type JobStore, type NewJob, openJobStore } from "../../../src/providers/sandbox/job-store.ts";
import type { Spec } from "../../../src/providers/sandbox/spec.ts";

const MODULE = join(import.meta.dir, "../../../src/providers/sandbox/job-store.ts");
const DAY_MS = 86_400_000;

let directory: string;
let path: string;
let jobs: JobStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-upstream-"));
  path = join(directory, "upstream.db");
  jobs = openJobStore(path);
});
afterEach(() => {
  jobs.stop();
  rmSync(directory, { recursive: true });
});

function job(id = "sandbox_1"): NewJob {
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

test("a job is found by its id and by its attempt, as it was accepted", () => {
  expect(jobs.accept(job())).toBe("accepted");
  expect(jobs.find("sandbox_1")).toEqual({ ...job(), ending: undefined });
  expect(jobs.findByAttempt("att_sandbox_1" as AttemptId)?.id).toBe("sandbox_1");
  expect(jobs.find("sandbox_2")).toBeUndefined();
});

test("an attempt is accepted once; the first stays as it is", () => {
  jobs.accept(job());
  expect(jobs.accept({ ...job(), id: "sandbox_2", readyAt: 9 })).toBe("known");
  expect(jobs.find("sandbox_1")?.readyAt).toBe(1_400);
  expect(jobs.find("sandbox_2")).toBeUndefined();
});

test.each([
  { state: "succeeded" },
  { state: "cancelled" },
  { state: "failed", code: "INPUT_INVALID", message: "The mask is opaque." },
  { state: "failed", code: "UPSTREAM_ERROR", message: undefined },
] as const)("a job ends once, as %j", (ending) => {
  jobs.accept(job());
  expect(jobs.end("sandbox_1", ending, 2_000)).toBe(true);
  expect(jobs.end("sandbox_1", { state: "succeeded" }, 3_000)).toBe(false);
  expect(jobs.find("sandbox_1")?.ending).toEqual(ending);
});

test("refusals are counted by task, and none is made when none is wanted", () => {
  const refusals = [2, 2, 2].map((times) => jobs.refuse("task_1" as TaskId, times, 0));
  expect(refusals).toEqual([true, true, false]);
  expect(jobs.refuse("task_2" as TaskId, 0, 0)).toBe(false);
});

describe("tidying", () => {
  test("gives the files of what ended ten minutes ago, once, and forgets it after a day", () => {
    jobs.accept(job());
    jobs.end("sandbox_1", { state: "succeeded" }, 2_000);
    expect(jobs.tidy(2_000 + 600_000)).toEqual([]);
    expect(jobs.tidy(2_001 + 600_000).map(({ id }) => id)).toEqual(["sandbox_1"]);
    expect(jobs.tidy(2_002 + 600_000)).toEqual([]);
    expect(jobs.tidy(DAY_MS)).toEqual([]);
    jobs.tidy(DAY_MS + 1_001);
    expect(jobs.find("sandbox_1")).toBeUndefined();
  });

  test("leaves what runs alone for a week", () => {
    jobs.accept(job());
    jobs.tidy(7 * DAY_MS);
    expect(jobs.find("sandbox_1")).toBeDefined();
    expect(jobs.tidy(7 * DAY_MS + 1_001).map(({ id }) => id)).toEqual(["sandbox_1"]);
    expect(jobs.find("sandbox_1")).toBeUndefined();
  });
});

test("what was accepted survives the sudden end of the process", async () => {
  const script = `
    import { openJobStore } from ${JSON.stringify(MODULE)};
    const jobs = openJobStore(process.argv[1]);
    jobs.accept(${JSON.stringify(job("sandbox_killed"))});
    process.kill(process.pid, "SIGKILL");
  `;
  const child = Bun.spawn([process.execPath, "-e", script, path], { stderr: "pipe" });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(jobs.find("sandbox_killed")).toEqual({ ...job("sandbox_killed"), ending: undefined });
});
