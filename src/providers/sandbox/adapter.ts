import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ProviderId } from "../../domain/ids.ts";
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
import { type Course, endingOf, needsRendering, pollAfterMs, progressOf } from "./course.ts";
import { openFiles, type SandboxFiles } from "./files.ts";
import { createStudio, type Studio } from "./renderings.ts";
import { createSketches, type Sketches } from "./sketches.ts";
import { rehearsalOf, toSpec } from "./spec.ts";
import { type Ending, type Operation, openUpstream, type Upstream } from "./upstream.ts";

/** Branded by hand: adapters are where provider ids come from. */
export const SANDBOX_ID = "sandbox" as ProviderId;

export interface SandboxDeps {
  /** For the upstream's memory and its files; created when first used. */
  readonly directory: string;
  readonly clock: Clock;
  /** Tasks under way at once. */
  readonly concurrency: number;
  /** Outputs rendered at once, 2 unless told. */
  readonly workers?: number | undefined;
  readonly renderer?: Renderer | undefined;
}

export type SandboxProvider = ProviderAdapter &
  Required<Pick<ProviderAdapter, "poll" | "cancel" | "recover" | "fetchOutput" | "stop">> & {
    /** Resolves when nothing is being rendered. */
    idle(): Promise<void>;
  };

interface Sandbox {
  readonly upstream: Upstream;
  readonly files: SandboxFiles;
  readonly studio: Studio;
  readonly sketches: Sketches;
  readonly renderer: Renderer;
  tidiedAt: number;
}

const TIDY_EVERY_MS = 1_000;

/**
 * The built-in provider: an asynchronous upstream that needs no network and draws procedural pictures. It
 * behaves like a remote one: its own memory outlives this process, and it fails on request (the `sandbox`
 * parameter).
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
    id: SANDBOX_ID,
    submitIsIdempotent: false,
    concurrency: deps.concurrency,
    submit: async (request, signal) => submit(sandbox(), clock, request, signal),
    async poll(handle, signal, previews) {
      signal.throwIfAborted();
      return poll(sandbox(), handle, clock.now(), previews);
    },
    async cancel(handle, signal) {
      signal.throwIfAborted();
      const { upstream, studio, sketches, files } = sandbox();
      const operation = findOperation(upstream, handle);
      if (!upstream.end(operation.id, { state: "cancelled" }, clock.now())) return;
      studio.drop(operation.id);
      sketches.drop(operation.id);
      await files.removeAll(operation);
    },
    async recover(attempt, signal) {
      signal.throwIfAborted();
      const operation = sandbox().upstream.findByAttempt(attempt);
      return operation === undefined
        ? { kind: "absent" }
        : { kind: "found", operation: { id: operation.id } };
    },
    async fetchOutput(ref, signal) {
      signal.throwIfAborted();
      return fetchOutput(sandbox(), ref, signal);
    },
    async idle() {
      await Promise.all([opened?.studio.idle(), opened?.sketches.idle()]);
    },
    async stop() {
      isStopped = true;
      if (opened === undefined) return;
      const { renderer, studio, sketches, upstream } = opened;
      opened = undefined;
      await renderer.stop();
      await Promise.all([studio.idle(), sketches.idle()]);
      upstream.stop();
    },
  };
}

function open(deps: SandboxDeps): Sandbox {
  mkdirSync(deps.directory, { recursive: true, mode: 0o700 });
  const upstream = openUpstream(join(deps.directory, "upstream.db"));
  const files = openFiles(join(deps.directory, "files"), (id) => upstream.find(id) !== undefined);
  const workers = deps.workers ?? 2;
  const renderer = deps.renderer ?? createRenderer({ workers });
  // One more than workers, so that no worker waits while an output is written.
  const studio = createStudio({ renderer, files, clock: deps.clock, slots: workers + 1 });
  const sketches = createSketches({ renderer, files });
  return { upstream, files, studio, sketches, renderer, tidiedAt: 0 };
}

async function submit(
  sandbox: Sandbox,
  clock: Clock,
  request: SubmitRequest,
  signal: AbortSignal,
): Promise<Submitted> {
  signal.throwIfAborted();
  const { upstream, files, studio } = sandbox;
  await tidy(sandbox, clock.now());
  const spec = toSpec(request);
  if (spec === undefined) {
    throw new ProviderError(
      "reroute",
      "UPSTREAM_REJECTED",
      `The sandbox has no generator "${request.upstreamModel}".`,
    );
  }
  const rehearsal = rehearsalOf(spec);
  if (upstream.refuse(request.taskId, rehearsal.failTimes, clock.now())) {
    throw new ProviderError(
      "retry",
      "UPSTREAM_CAPACITY_EXHAUSTED",
      "Refused for want of capacity, as was asked for.",
    );
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
  const operation = { id, attempt, taskId, spec, submittedAt: now, readyAt: now + rehearsal.delayMs };
  if (upstream.accept(operation) === "known") {
    throw new Error(
      `Attempt ${attempt} was submitted before; an upstream that takes no key would make it twice.`,
    );
  }
  const course = courseOf(studio, operation, now);
  return { kind: "operation", operation: { id }, pollAfterMs: pollAfterMs(course, studio) };
}

function poll(
  { upstream, studio, sketches }: Sandbox,
  handle: Json,
  now: number,
  previews: Previews | undefined,
): PollResult {
  const operation = findOperation(upstream, handle);
  if (operation.ending !== undefined) return toResult(operation, operation.ending);
  const course = courseOf(studio, operation, now);
  if (course.work?.kind === "unwritable") {
    studio.drop(operation.id);
    const detail = `The sandbox could not keep its outputs: ${course.work.error.message}`;
    throw new ProviderError("retry", "UPSTREAM_ERROR", detail, {}, course.work.error);
  }
  const ending = endingOf(course);
  if (ending === undefined) {
    if (previews !== undefined) sketches.draw(operation, now, previews);
    return {
      kind: "pending",
      progress: progressOf(course, studio),
      pollAfterMs: pollAfterMs(course, studio),
    };
  }
  upstream.end(operation.id, ending, now);
  studio.drop(operation.id);
  sketches.drop(operation.id);
  return toResult(operation, ending);
}

/** Reports the state of an operation. Restarts a rendering that an earlier process began or that was interrupted. */
function courseOf(studio: Studio, operation: Operation, now: number): Course {
  const rehearsal = rehearsalOf(operation.spec);
  if (!needsRendering(rehearsal)) return { operation, rehearsal, work: undefined, now };
  studio.begin(operation);
  return { operation, rehearsal, work: studio.look(operation.id), now };
}

function toResult({ id, spec }: Operation, ending: Ending): PollResult {
  switch (ending.state) {
    case "succeeded": {
      const outputs = Array.from(
        { length: spec.outputs },
        (_, index): Output => ({ kind: "remote", ref: { operation: id, index } }),
      );
      return { kind: "succeeded", outputs };
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
  const { operation: id, index } = isJsonObject(ref) ? ref : {};
  const operation = typeof id === "string" ? sandbox.upstream.find(id) : undefined;
  const isThere =
    typeof index === "number" &&
    Number.isInteger(index) &&
    index >= 0 &&
    index < (operation?.spec.outputs ?? 0);
  if (operation?.ending?.state !== "succeeded" || !isThere || rehearsalOf(operation.spec).outputsLost) {
    throw new ProviderError("fail", "FINALIZATION_FAILED", "The sandbox has no such output.");
  }
  // The output was taken before or lost in a crash. Rendering it again gives the same bytes.
  await sandbox.studio.ensure(operation, index, signal);
  return sandbox.files.takeOutput(operation.id, index, signal);
}

function findOperation(upstream: Upstream, handle: Json): Operation {
  const id = isJsonObject(handle) && typeof handle.id === "string" ? handle.id : undefined;
  const operation = id === undefined ? undefined : upstream.find(id);
  if (operation !== undefined) return operation;
  throw new ProviderError("fail", "UPSTREAM_ERROR", "The sandbox does not know this operation.");
}

/** Removes expired files and rows at some of the submissions. */
async function tidy(sandbox: Sandbox, now: number): Promise<void> {
  if (now - sandbox.tidiedAt < TIDY_EVERY_MS) return;
  sandbox.tidiedAt = now;
  for (const operation of sandbox.upstream.tidy(now)) {
    sandbox.studio.drop(operation.id);
    sandbox.sketches.drop(operation.id);
    await sandbox.files.removeAll(operation);
  }
}
