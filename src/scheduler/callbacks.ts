import { assetPath } from "../domain/asset.ts";
import { callbackDelayMs } from "../domain/backoff.ts";
import type { Callback, Delivery } from "../domain/callback.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Log, Random } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { Task } from "../domain/task.ts";
import { createLoop } from "./loop.ts";

export interface CallbackDeps {
  readonly callbacks: CallbackStore;
  readonly tasks: TaskStore;
  readonly egress: Egress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where this service is reached, when it is set; else the creating request's origin counts. */
  readonly publicUrl?: string | undefined;
}

export interface CallbackSender {
  wake(): void;
  start(): void;
  /** One claim, delivered to the end, without timers. @returns callbacks sent */
  tick(): Promise<number>;
  stop(): Promise<void>;
}

/** Sends under way at once. */
const SENDS = 64;
/** Longer than any send takes: a callback taken by a process that died is due again after it. */
const LEASE_MS = 30_000;

/** Delivers the callbacks that task ends left behind: at most five sends each, counted before they leave. */
export function createCallbackSender(deps: CallbackDeps): CallbackSender {
  const sending = new Set<Promise<void>>();
  const controller = new AbortController();

  async function claim(): Promise<number> {
    const free = SENDS - sending.size;
    if (free <= 0) return 0;
    const due = await deps.callbacks.claim({ now: deps.clock.now(), leaseMs: LEASE_MS, limit: free });
    for (const callback of due) {
      const send = deliver(deps, callback, controller.signal).finally(() => {
        sending.delete(send);
        loop.wake();
      });
      sending.add(send);
    }
    return due.length;
  }

  const loop = createLoop(deps, "claiming callbacks", async () => {
    await claim();
    return sending.size < SENDS ? deps.callbacks.nextDueAt() : undefined;
  });

  return {
    wake: loop.wake,
    start: loop.start,
    async tick() {
      const count = await claim();
      await Promise.all(sending);
      return count;
    },
    async stop() {
      await loop.stop();
      controller.abort();
      await Promise.all(sending);
    },
  };
}

async function deliver(deps: CallbackDeps, callback: Callback, signal: AbortSignal): Promise<void> {
  try {
    const task = await deps.tasks.byId(callback.taskId);
    if (task === undefined) throw new Error(`Task ${callback.taskId} of a callback is not stored`);
    const delivery = await deps.egress.deliver(callback.url, callbackPayload(task, deps.publicUrl), signal);
    const now = deps.clock.now();
    await deps.callbacks.record(
      callback.id,
      callback.attempts,
      delivery,
      now,
      retryAt(deps, callback, delivery, now),
    );
    deps.log.info({ task: task.id, attempt: callback.attempts, outcome: delivery.kind }, "callback");
  } catch (error) {
    // The send is counted and the callback is due again when its lease ends.
    deps.log.error({ err: error as Error, callback: callback.id }, "callback failed");
  }
}

function retryAt(
  deps: CallbackDeps,
  callback: Callback,
  delivery: Delivery,
  now: number,
): number | undefined {
  if (delivery.kind === "delivered" || delivery.kind === "forbidden") return undefined;
  const wantedMs = delivery.kind === "refused" ? delivery.retryAfterMs : undefined;
  const delayMs = callbackDelayMs(callback.attempts, deps.random(), wantedMs);
  return delayMs === undefined ? undefined : now + delayMs;
}

/** The body of §6: the task's end, with times in ISO 8601 UTC. */
export function callbackPayload(task: Task, publicUrl: string | undefined): string {
  const origin = publicUrl ?? task.origin;
  const iso = (ms: number) => new Date(ms).toISOString();
  return JSON.stringify({
    task_id: task.id,
    request_id: task.requestId,
    status: task.status,
    result:
      task.status === "completed"
        ? task.results.map(({ assetId, type }) => origin + assetPath({ id: assetId, type }))
        : undefined,
    error: task.error?.message,
    error_code: task.error?.code,
    created_at: iso(task.createdAt),
    completed_at: iso(task.completedAt ?? task.createdAt),
  });
}
