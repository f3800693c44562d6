import type { Callback, CallbackSend, Delivery } from "../domain/callback/callback.ts";
import { callbackPost } from "../domain/callback/callback-payload.ts";
import { type AccountStore, LOCKED } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Log, Random, Secrets } from "../domain/ports/runtime.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { callbackDelayMs } from "../domain/task/backoff.ts";

export interface CallbackDeps {
  readonly callbacks: CallbackStore;
  readonly tasks: TaskStore;
  readonly accounts: Pick<AccountStore, "callbackSecret">;
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "sign">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tally: Pick<Tally, "callbackSent">;
  /** Absent where nothing is traced. */
  readonly spans?: Pick<Spans, "sent"> | undefined;
  /** The public address of this service, if set. Otherwise the origin of the creating request is used. */
  readonly publicUrl?: string | undefined;
}

/** Never sent unsigned: a receiver that trusts whatever comes would not notice. */
const UNSIGNABLE = {
  kind: "unreachable",
  reason: "cannot be signed: its secret is sealed with another key",
} as const;

/**
 * @param delaysMs before attempts 2, 3 and so on
 * @param ended told how each send went that left, and how long it took
 */
export function createCallbackPosting(
  deps: CallbackDeps,
  delaysMs: () => readonly number[],
  ended: (callback: Callback, delivery: Delivery, tookMs: number) => void,
) {
  const { callbacks, clock, log } = deps;

  /** Records the outcome of a send, and when the next one is due. */
  async function record(send: CallbackSend, delivery: Delivery): Promise<void> {
    const now = clock.now();
    const delayMs = delayAfter(send.callback.attempts, delivery);
    await callbacks.record(send, delivery, now, delayMs === undefined ? undefined : now + delayMs);
    logDelivery(log, send, delivery);
    deps.tally.callbackSent(delivery.kind, isOver(send, delivery, delayMs));
  }

  function delayAfter(attempts: number, delivery: Delivery): number | undefined {
    if (delivery.kind === "delivered" || delivery.kind === "forbidden") return undefined;
    const wantedMs = delivery.kind === "refused" ? delivery.retryAfterMs : undefined;
    return callbackDelayMs(delaysMs(), attempts, deps.random(), wantedMs);
  }

  return {
    record,
    /** Sends once and records the outcome. Never throws. */
    async run(send: CallbackSend, stopping: AbortSignal): Promise<void> {
      const { callback } = send;
      try {
        const task = await deps.tasks.byId(callback.taskId);
        // Deleted since the callback was claimed, and the callback with it.
        if (task === undefined) return;
        const kept = await deps.accounts.callbackSecret(callback.keyId);
        if (kept === LOCKED) return await record(send, UNSIGNABLE);
        const post = callbackPost(deps, task, { id: callback.id, at: clock.now(), kept });
        const leftAt = clock.elapsed();
        const delivery = await deps.egress.deliver(callback.url, post, stopping);
        const tookMs = clock.elapsed() - leftAt;
        ended(callback, delivery, tookMs);
        deps.spans?.sent(task, callback, delivery, tookMs);
        const isCutOff = stopping.aborted && delivery.kind === "unreachable";
        await record(send, isCutOff ? { kind: "interrupted" } : delivery);
      } catch (error) {
        // The send counts. The callback is due again when its lease ends.
        log.error({ err: error as Error, callback: callback.id }, "callback failed");
      }
    },
  };
}

/** Whether the callback is acknowledged for the first time, or given up. A redelivery gives nothing up. */
function isOver(
  { callback, isRedelivery }: CallbackSend,
  { kind }: Delivery,
  delayMs: number | undefined,
): boolean {
  return kind === "delivered" ? callback.state !== "delivered" : delayMs === undefined && !isRedelivery;
}

function logDelivery(log: Log, { callback, sequence, isRedelivery }: CallbackSend, delivery: Delivery): void {
  log[delivery.kind === "forbidden" ? "warn" : "info"](
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
