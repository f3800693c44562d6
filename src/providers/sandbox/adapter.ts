import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type Json } from "../../domain/json.ts";
import {
  type Output,
  type PollResult,
  type Previews,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { createRenderer, type Renderer } from "../../studio/render.ts";
import { outputsAtOnce } from "./at-once.ts";
import { type Course, ENDS_WITHIN_MS, endingOf, needsRendering, pollAfterMs, progressOf } from "./course.ts";
import { openFiles, type SandboxFiles } from "./files.ts";
import { type Ending, type Job, type JobStore, type NewJob, openJobStore } from "./job-store.ts";
import { createRenderings, type Renderings } from "./renderings.ts";
import { requireRoom } from "./room.ts";
import { SANDBOX } from "./settings.ts";
import { createSketches, type Sketches } from "./sketches.ts";
import { kindOf, rehearsalOf, toSpec } from "./spec.ts";

export interface SandboxDeps {
  /** For the record of jobs and their files; created when first used. */
  readonly directory: string;
  readonly clock: Clock;
  /** Tasks under way at once. */
  readonly concurrency: number;
  /** Outputs rendered at once, 2 unless told. */
  readonly workers?: number | undefined;
  readonly renderer?: Renderer | undefined;
  /** Whether other processes, with folders of their own, go on with these jobs: what they are told of one is then all that they need. */
  readonly isShared?: boolean | undefined;
  /** Memory that a picture may take while it is drawn; no limit unless given. */
  readonly pictureBytes?: number | undefined;
}

export type SandboxProvider = ProviderAdapter &
  Required<Pick<ProviderAdapter, "poll" | "cancel" | "recover" | "fetchOutput" | "stop">> & {
    /** Resolves when nothing is being rendered. */
    idle(): Promise<void>;
  };

interface Sandbox {
  readonly jobs: JobStore;
  readonly files: SandboxFiles;
  readonly renderings: Renderings;
  readonly sketches: Sketches;
  readonly renderer: Renderer;
  readonly isShared: boolean;
  tidiedAt: number;
}

const TIDY_EVERY_MS = 1_000;
/** How soon to poll again for a job that waits only for its early versions. */
const SKETCHING_MS = 20;

/**
 * The built-in provider: an upstream that needs no network and draws procedural pictures. Like a remote one, it remembers its jobs
 * after this process ends. It fails on request (the `sandbox` parameter).
 */
export function createSandboxProvider(deps: SandboxDeps): SandboxProvider {
  const { clock } = deps;
  let opened: Sandbox | undefined;
  let isStopped = false;
  const sandbox = (): Sandbox => {
    if (isStopped) throw new Error("The sandbox is stopped.");
    opened ??= open(deps);
    return opened;
  };

  return {
    id: SANDBOX.id,
    lane: SANDBOX.id,
    submitIsIdempotent: false,
    repeatIsSafe: deps.isShared,
    concurrency: deps.concurrency,
    submit: async (request, signal) => submit(sandbox(), deps, request, signal),
    async poll(handle, signal, previews) {
      signal.throwIfAborted();
      return poll(sandbox(), clock, handle, signal, previews);
    },
    async cancel(handle, signal) {
      signal.throwIfAborted();
      const opened = sandbox();
      const job = findJob(opened.jobs, handle);
      if (job === undefined) throw unknownJob();
      if (opened.jobs.end(job.id, { state: "cancelled" }, clock.now())) await discard(opened, job);
    },
    async recover({ attempt }, signal) {
      signal.throwIfAborted();
      const job = sandbox().jobs.findByAttempt(attempt);
      return job === undefined
        ? { kind: "absent" }
        : { kind: "found", operation: operationOf(sandbox(), job) };
    },
    async fetchOutput(ref, signal) {
      signal.throwIfAborted();
      return fetchOutput(sandbox(), ref, signal);
    },
    moveTimes: (byMs) => sandbox().jobs.moveTimes(byMs),
    async idle() {
      await Promise.all([opened?.renderings.idle(), opened?.sketches.idle()]);
    },
    async stop() {
      isStopped = true;
      if (opened === undefined) return;
      const { renderer, renderings, sketches, jobs } = opened;
      opened = undefined;
      await renderer.stop();
      await Promise.all([renderings.idle(), sketches.idle()]);
      jobs.stop();
    },
  };
}

function open(deps: SandboxDeps): Sandbox {
  // Not what is above it: a data folder that was moved away must not be made anew.
  if (!existsSync(deps.directory)) mkdirSync(deps.directory, { mode: 0o700 });
  const jobs = openJobStore(join(deps.directory, "upstream.db"));
  const files = openFiles(join(deps.directory, "files"), jobs.keepsFiles);
  const workers = deps.workers ?? 2;
  const renderer = deps.renderer ?? createRenderer({ workers });
  // One more than workers, so that no worker waits while an output is written.
  const renderings = createRenderings({ renderer, files, clock: deps.clock, slots: workers + 1 });
  const sketches = createSketches({ renderer, files });
  return { jobs, files, renderings, sketches, renderer, isShared: deps.isShared === true, tidiedAt: 0 };
}

async function submit(
  sandbox: Sandbox,
  { clock, pictureBytes = Number.POSITIVE_INFINITY }: SandboxDeps,
  request: SubmitRequest,
  signal: AbortSignal,
): Promise<Submitted> {
  signal.throwIfAborted();
  const { jobs, files, renderings } = sandbox;
  await tidy(sandbox, clock.now());
  const spec = toSpec(request);
  if (spec === undefined) {
    const detail = `The sandbox has no generator "${request.upstreamModel}".`;
    throw new ProviderError("reroute", "NO_ROUTE_AVAILABLE", detail);
  }
  requireRoom(spec, pictureBytes);
  const rehearsal = rehearsalOf(spec);
  if (jobs.refuse(request.taskId, rehearsal.failTimes, clock.now())) {
    const detail = "Refused for want of capacity, as was asked for.";
    throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", detail);
  }

  const { attempt, taskId } = request;
  const id = `sandbox_${attempt.slice(attempt.indexOf("_") + 1)}`;
  try {
    for (const [i, input] of request.inputs.entries()) await files.writeInput(id, i, input.content);
    signal.throwIfAborted();
  } catch (error) {
    await files.removeAll({ id, spec });
    if (signal.aborted) throw error;
    throw new ProviderError("retry", "UPSTREAM_ERROR", "The sandbox could not take the inputs.", {}, error);
  }
  const now = clock.now();
  const job = { id, attempt, taskId, spec, submittedAt: now, readyAt: now + rehearsal.delayMs };
  const made = outputsAtOnce(spec, rehearsal);
  if (jobs.accept(job, made && now) === "known") {
    const fault = "was submitted before; an upstream that takes no key would make it twice.";
    throw new Error(`Attempt ${attempt} ${fault}`);
  }
  if (made !== undefined) return { kind: "outputs", outputs: made };
  if (needsRendering(rehearsal)) renderings.begin(job, true);
  const dueMs = pollAfterMs(courseOf(renderings, job, now));
  return { kind: "operation", operation: operationOf(sandbox, job), jobId: id, pollAfterMs: dueMs };
}

async function poll(
  sandbox: Sandbox,
  clock: Clock,
  handle: Json,
  signal: AbortSignal,
  previews: Previews | undefined,
): Promise<PollResult> {
  const { jobs, renderings, sketches } = sandbox;
  const job = findJob(jobs, handle);
  if (job === undefined) {
    if (!sandbox.isShared) throw unknownJob();
    const message = "Another process had this job, and its files are not here.";
    return { kind: "failed", code: "UPSTREAM_ERROR", message, isLost: true };
  }
  if (job.ending !== undefined) return toResult(sandbox, job, job.ending);
  const before = courseOf(renderings, job, clock.now());
  const isDue = before.now >= job.readyAt && before.work?.kind === "rendering";
  if (isDue) await renderings.ended(job.id, ENDS_WITHIN_MS, signal);
  const now = clock.now();
  const course = isDue ? courseOf(renderings, job, now) : before;
  if (course.work?.kind === "unwritable") {
    renderings.drop(job.id);
    const detail = `The sandbox could not keep its outputs: ${course.work.error.message}`;
    throw new ProviderError("retry", "UPSTREAM_ERROR", detail, {}, course.work.error);
  }
  const isSketching = previews !== undefined && sketches.draw(job, now, previews);
  const ending = endingOf(course);
  if (ending === undefined)
    return { kind: "pending", progress: progressOf(course), pollAfterMs: pollAfterMs(course) };
  // On a busy machine the last early version may take longer than the rehearsed time.
  if (isSketching) return { kind: "pending", progress: progressOf(course), pollAfterMs: SKETCHING_MS };
  jobs.end(job.id, ending, now);
  renderings.drop(job.id);
  sketches.drop(job.id);
  return toResult(sandbox, job, ending);
}

/** What names a job. To other processes it says all, where no file belongs to it. */
function operationOf({ isShared }: Sandbox, { ending: _, ...job }: Job): Json {
  const { id, spec } = job;
  return isShared && spec.inputs.length === 0 ? { id, job: JSON.stringify(job) } : { id };
}

/** Reports the state of a job. Restarts a rendering that an earlier process began or that was interrupted. */
function courseOf(renderings: Renderings, job: Job, now: number): Course {
  const rehearsal = rehearsalOf(job.spec);
  const isRendered = needsRendering(rehearsal);
  if (isRendered) renderings.begin(job);
  const work = isRendered ? renderings.look(job.id) : undefined;
  return { job, rehearsal, work, expectedMs: renderings.expectedMs(kindOf(job.spec)), now };
}

function toResult(sandbox: Sandbox, job: Job, ending: Ending): PollResult {
  const { id, spec } = job;
  switch (ending.state) {
    case "succeeded": {
      const of = sandbox.isShared ? { job: operationOf(sandbox, job) } : {};
      const output = (index: number): Output => {
        const bytes = sandbox.files.takeSmall(id, index);
        return bytes === undefined
          ? { kind: "remote", ref: { operation: id, index, ...of } }
          : { kind: "bytes", bytes };
      };
      return { kind: "succeeded", outputs: Array.from({ length: spec.outputs }, (_, i) => output(i)) };
    }
    case "failed":
      return { kind: "failed", code: ending.code, message: ending.message };
    case "cancelled":
      return { kind: "cancelled" };
  }
}

async function fetchOutput(
  sandbox: Sandbox,
  ref: Json,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { operation: id, index, job: whole = { id } } = isJsonObject(ref) ? ref : {};
  const job = findJob(sandbox.jobs, whole);
  // It succeeded elsewhere.
  const isNew = job !== undefined && job.ending === undefined && isJsonObject(whole) && "job" in whole;
  if (isNew) sandbox.jobs.end(job.id, { state: "succeeded" }, job.readyAt);
  const isThere =
    typeof index === "number" && Number.isInteger(index) && index >= 0 && index < (job?.spec.outputs ?? 0);
  if (
    (job?.ending?.state !== "succeeded" && !isNew) ||
    job === undefined ||
    !isThere ||
    rehearsalOf(job.spec).outputsLost
  ) {
    throw new ProviderError("fail", "FINALIZATION_FAILED", "The sandbox has no such output.");
  }
  // The output was taken before or lost in a crash. Rendering it again gives the same bytes.
  await sandbox.renderings.ensure(job, index, signal);
  return sandbox.files.takeOutput(job.id, index, signal);
}

/** Finds a job. One of another process is taken over, where what names it says all of it. */
function findJob(jobs: JobStore, handle: Json): Job | undefined {
  const { id, job: whole } = isJsonObject(handle) ? handle : {};
  const known = typeof id === "string" ? jobs.find(id) : undefined;
  if (known !== undefined || typeof whole !== "string") return known;
  // Safe: this provider wrote it.
  const job = JSON.parse(whole) as NewJob;
  jobs.accept(job);
  return jobs.find(job.id);
}

function unknownJob(): ProviderError {
  return new ProviderError("fail", "UPSTREAM_ERROR", "The sandbox does not know this operation.");
}

/** Removes expired files and rows at some of the submissions. */
async function tidy(sandbox: Sandbox, now: number): Promise<void> {
  if (Math.abs(now - sandbox.tidiedAt) < TIDY_EVERY_MS) return;
  sandbox.tidiedAt = now;
  for (const job of sandbox.jobs.tidy(now)) await discard(sandbox, job);
}

async function discard({ renderings, sketches, files }: Sandbox, job: Job): Promise<void> {
  renderings.drop(job.id);
  sketches.drop(job.id);
  await files.removeAll(job);
}
