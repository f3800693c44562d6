import type { Callback, CallbackSend, Delivery } from "../domain/callback/callback.ts";
import { callbackPost } from "../domain/callback/callback-payload.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore, SendLimits } from "../domain/ports/callback-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Log, Random, Secrets } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { callbackDelayMs } from "../domain/task/backoff.ts";
import { createLoop } from "./loop.ts";

export interface CallbackDeps {
  readonly callbacks: CallbackStore;
  readonly tasks: TaskStore;
  readonly accounts: Pick<AccountStore, "callbackSecret">;
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "sign">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where this service is reached, when it is set; else the creating request's origin counts. */
  readonly publicUrl?: string | undefined;
}

export interface CallbackOptions {
  /** Before attempts 2, 3 and so on; as many attempts follow the first as there are delays. */
  readonly delaysMs: readonly number[];
  readonly limits: SendLimits;
}

export interface CallbackSender {
  wake(): void;
  /** Takes up what an earlier process was in the middle of, and sends from then on. */
  start(): Promise<void>;
  /** One claim, delivered to the end, without timers. @returns callbacks sent */
  tick(): Promise<number>;
  /** Begins no more sends, and lets those under way end within `drainMs`; the rest is recorded as interrupted. */
  stop(drainMs?: number): Promise<void>;
}

/** Longer than any send takes, so that none is taken for lost and sent twice. */
const LEASE_MS = 30_000;

/** Delivers the callbacks that task ends left behind: at most five attempts each, counted before they leave. */
export function createCallbackSender(deps: CallbackDeps, options: CallbackOptions): CallbackSender {
  const { callbacks, clock } = deps;
  const { delaysMs, limits } = options;
  const underWay = new Map<Promise<void>, Callback>();
  const stopping = new AbortController();

  async function claim(): Promise<number> {
    if (underWay.size >= limits.total) return 0;
    const query = { now: clock.now(), leaseMs: LEASE_MS, limits, underWay: underWay.values() };
    const sends = await callbacks.claim(query);
    for (const send of sends) {
      const done = deliver(send).finally(() => {
        underWay.delete(done);
        loop.wake();
      });
      underWay.set(done, send.callback);
    }
    return sends.length;
  }

  async function deliver(send: CallbackSend): Promise<void> {
    const { callback } = send;
    try {
      const task = await deps.tasks.byId(callback.taskId);
      if (task === undefined) throw new Error(`Task ${callback.taskId} of a callback is not stored`);
      const kept = await deps.accounts.callbackSecret(callback.keyId);
      const post = callbackPost(deps, task, { id: callback.id, at: clock.now(), kept });
      const delivery = await deps.egress.deliver(callback.url, post, stopping.signal);
      const isCutOff = stopping.signal.aborted && delivery.kind === "unreachable";
      await record(send, isCutOff ? { kind: "interrupted" } : delivery);
    } catch (error) {
      // The send is counted, and the callback due again when its lease ends.
      deps.log.error({ err: error as Error, callback: callback.id }, "callback failed");
    }
  }

  async function record(send: CallbackSend, delivery: Delivery): Promise<void> {
    const { callback, sequence, isRedelivery } = send;
    const now = clock.now();
    const delayMs = delayAfter(callback.attempts, delivery);
    await callbacks.record(send, delivery, now, delayMs === undefined ? undefined : now + delayMs);
    const level = delivery.kind === "forbidden" ? "warn" : "info";
    deps.log[level](
      {
        callback: callback.id,
        task: callback.taskId,
        host: callback.host,
        attempt: isRedelivery ? undefined : callback.attempts,
        send: sequence,
        outcome: delivery.kind,
        status: "status" in delivery ? delivery.status : undefined,
        reason: "reason" in delivery ? delivery.reason : undefined,
      },
      "callback",
    );
  }

  function delayAfter(attempts: number, delivery: Delivery): number | undefined {
    if (delivery.kind === "delivered" || delivery.kind === "forbidden") return undefined;
    const wantedMs = delivery.kind === "refused" ? delivery.retryAfterMs : undefined;
    return callbackDelayMs(delaysMs, attempts, deps.random(), wantedMs);
  }

  const loop = createLoop(deps, "claiming callbacks", async () => {
    await claim();
    return underWay.size < limits.total ? callbacks.nextDueAt() : undefined;
  });

  return {
    wake: loop.wake,
    async start() {
      // Each may have arrived, so the next attempt comes after its delay: a crash must not use up all five at once.
      // All in one turn, so that they share a commit: hundreds of flushes would hold up the start.
      await Promise.all((await callbacks.unfinished()).map((send) => record(send, { kind: "interrupted" })));
      loop.start();
    },
    async tick() {
      const count = await claim();
      await Promise.all(underWay.keys());
      return count;
    },
    async stop(drainMs = 0) {
      await loop.stop();
      const abort = () => stopping.abort();
      if (drainMs <= 0) abort();
      const cancelTimer = clock.after(drainMs, abort);
      await Promise.all(underWay.keys());
      cancelTimer();
    },
  };
}
