import { isJsonObject, type Json } from "../../domain/json.ts";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../domain/ports/provider.ts";
import type { Answers } from "./answers.ts";
import type { Server, Whereabouts } from "./server.ts";

export interface Jobs extends Required<Pick<ProviderAdapter, "poll" | "cancel" | "recover">> {
  /** Resolves when no interruption is under way, so that a new job cannot be hit by one. */
  quiet(): Promise<void>;
}

export interface JobsDeps {
  readonly server: Server;
  readonly answers: Answers;
  /** Nobody else uses the server. */
  readonly isExclusive: boolean;
  /** What was made and lost may be made again. */
  readonly mayRepeat: boolean;
}

/** The server makes a picture in seconds. */
const POLL_MS = 1_000;
/** Ids of interrupted tasks, kept until these have asked. */
const MOST_INTERRUPTED = 1_000;

const MADE = "The provider made it, and its answer was lost.";
/** It was never made, or may be made again. */
export const LOST = {
  kind: "failed",
  code: "UPSTREAM_ERROR",
  message: "The provider no longer has this job.",
  isLost: true,
} as const satisfies PollResult;

/** The stored handle of a task of the server. */
export function operationOf(id: string): Json {
  return { task_id: id };
}

/** Follows tasks of a server: what it makes is in its answer alone, and where it is meanwhile is asked by its id. */
export function createJobs(deps: JobsDeps): Jobs {
  const { server, answers } = deps;
  const interrupted = new Set<string>();
  let interrupting: Promise<unknown> = Promise.resolve();
  return {
    async poll(operation, signal) {
      signal.throwIfAborted();
      const id = idOf(operation);
      const isStopped = interrupted.has(id);
      const state = answers.stateOf(id);
      const answer = answers.tell(id);
      if (answer !== undefined) return isStopped ? { kind: "cancelled" } : answer;
      const place = await server.find(id, signal).catch((error: unknown): undefined => {
        // While its answer is awaited, the server's state does not matter.
        if (state !== "awaited" || signal.aborted) throw error;
      });
      const late = answers.tell(id);
      if (late !== undefined) return isStopped ? { kind: "cancelled" } : late;
      if (state === "awaited" || place?.kind === "queued" || place?.kind === "active") return pending(place);
      return isStopped ? { kind: "cancelled" } : unanswered(place, state === "cut", deps.mayRepeat);
    },
    async cancel(operation, signal) {
      signal.throwIfAborted();
      const stopping = stop(deps, interrupted, idOf(operation), signal);
      // Whatever the result, the next job may then begin.
      interrupting = Promise.allSettled([interrupting, stopping]);
      return (await stopping) ? undefined : "unable";
    },
    async recover({ attempt }, signal) {
      signal.throwIfAborted();
      const found = { kind: "found", operation: operationOf(attempt) } as const;
      const state = answers.stateOf(attempt);
      if (state === "awaited" || state === "answered") return found;
      const place = await server.find(attempt, signal);
      return place?.kind === "unknown" ? { kind: "absent" } : found;
    },
    quiet: () => interrupting.then(() => undefined),
  };
}

/**
 * What became of a task whose answer comes no more, and which is neither made nor waits.
 *
 * @param wasCut its connection ended just now. A server that does not know it any more was restarted before it was made
 */
function unanswered(place: Whereabouts | undefined, wasCut: boolean, mayRepeat: boolean): PollResult {
  if (mayRepeat || (wasCut && place?.kind === "unknown")) return LOST;
  return { kind: "failed", code: "OUTCOME_UNKNOWN", ...(place?.kind === "finished" && { message: MADE }) };
}

/**
 * Interrupts a task if nothing else can be hit: nobody else uses the server, it is the one that is made, and none of ours might begin
 * meanwhile.
 *
 * @returns whether the task has ended or will be stopped
 */
async function stop(
  { server, answers, isExclusive }: JobsDeps,
  interrupted: Set<string>,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (answers.stateOf(id) === "answered") return true;
  if (!isExclusive) return false;
  const place = await server.find(id, signal);
  if (place === undefined) return false;
  if (place.kind !== "active") return true;
  if (answers.stateOf(id) === "answered") return true;
  if (answers.awaitsOther(id)) return false;
  interrupted.add(id);
  const [oldest] = interrupted;
  if (interrupted.size > MOST_INTERRUPTED && oldest !== undefined) interrupted.delete(oldest);
  await server.interrupt(signal);
  return true;
}

function pending(place: Whereabouts | undefined): PollResult {
  const progress = place?.kind === "active" ? place.progress : undefined;
  return { kind: "pending", pollAfterMs: POLL_MS, ...(progress !== undefined && { progress }) };
}

/** @throws ProviderError `fail` for what is no handle of ours */
function idOf(operation: Json): string {
  const id = isJsonObject(operation) ? operation.task_id : undefined;
  if (typeof id === "string" && /^att_\w{1,64}$/.test(id)) return id;
  throw new ProviderError("fail", "UPSTREAM_ERROR", "Stable Diffusion web UI: this is no task of a server");
}
