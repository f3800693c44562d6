import { AppError } from "../domain/errors.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { dropReply, type Reply } from "./reply.ts";

export interface EdgeDeps {
  readonly clock: Clock;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  readonly log: Log;
  /** How long a request to the default address may take until its answer begins. */
  readonly timeoutMs: number;
  /** Lifts the server's own limit on how long a connection may be silent. */
  readonly keepOpen: (request: Request) => void;
}

/** How often the open requests are checked, unless one must be cut sooner. */
const SWEEP_MS = 1_000;

/** For requests open longer than this, the server's own limit is lifted, because it counts a slow upload as silence. */
const KEEP_OPEN_AFTER_MS = 5_000;

/** How long before the cut a handler should answer by itself. */
const MARGIN_MS = 500;

type Asked = { readonly request: Request; readonly requestId: string };

interface OpenRequest {
  readonly request: Request;
  readonly startedAt: number;
  readonly cut: (error: AppError) => void;
  isKeptOpen: boolean;
}

/** The time limit of the default address (docs/api.md 1.2). All requests share one timer, which runs only while some are open. */
export function createEdge(deps: EdgeDeps) {
  const { timeoutMs } = deps;
  const marginMs = Math.min(MARGIN_MS, timeoutMs / 10);
  /** Oldest first, since all have the same limit. */
  const open = new Set<OpenRequest>();
  let isWatching = false;

  function watch(now: number): void {
    const [oldest] = open;
    isWatching = oldest !== undefined;
    if (oldest === undefined) return;
    deps.clock.after(Math.max(1, Math.min(SWEEP_MS, oldest.startedAt + timeoutMs - now)), sweep);
  }

  function sweep(): void {
    const now = deps.elapsed();
    for (const each of open) {
      const openMs = now - each.startedAt;
      if (openMs >= timeoutMs) {
        open.delete(each);
        each.cut(tooLate(timeoutMs));
      } else if (openMs < KEEP_OPEN_AFTER_MS) {
        break;
      } else if (!each.isKeptOpen) {
        each.isKeptOpen = true;
        deps.keepOpen(each.request);
      }
    }
    watch(now);
  }

  return {
    /** When the handler of a request that began at `startedAt` should answer by itself: a little before the cut. */
    deadline: (startedAt: number) => startedAt + timeoutMs - marginMs,
    /**
     * Resolves with the handler's answer, or rejects with `upstream_timeout` if it takes too long. The handler then continues,
     * and its answer is dropped.
     */
    within({ request, requestId }: Asked, startedAt: number, reply: Reply | Promise<Reply>) {
      if (!(reply instanceof Promise)) return reply;
      return new Promise<Reply>((resolve, reject) => {
        const entry: OpenRequest = { request, startedAt, cut: reject, isKeptOpen: false };
        open.add(entry);
        if (!isWatching) watch(startedAt);
        reply.then(
          (value) => {
            if (open.delete(entry)) resolve(value);
            else dropReply(value);
          },
          (error: unknown) => {
            if (open.delete(entry)) reject(error);
            else logLate(deps.log, requestId, error);
          },
        );
      });
    },
  };
}
export type Edge = ReturnType<typeof createEdge>;

function tooLate(timeoutMs: number): AppError {
  return new AppError("upstream_timeout", { kind: "answer_too_late", limitSec: timeoutMs / 1000 });
}

function logLate(log: Log, requestId: string, error: unknown): void {
  const err = error instanceof Error ? error : new Error(String(error));
  log.debug({ request_id: requestId, err }, "a request failed after it was cut");
}
