import type { Callback, CallbackSend, Delivery } from "../domain/callback/callback.ts";
import { formOf, type WordingDeps, wordedPost } from "../domain/callback/worded.ts";
import { type AccountStore, LOCKED } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Log, Random, Secrets } from "../domain/ports/runtime.ts";
import type { Spans } from "../domain/ports/spans.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { callbackDelayMs } from "../domain/task/backoff.ts";

export interface CallbackDeps extends WordingDeps {
  readonly callbacks: CallbackStore;
  readonly tasks: TaskStore;
  readonly accounts: Pick<AccountStore, "callbackSecret">;
  readonly egress: Egress;
  readonly secrets: Pick<Secrets, "sign">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tally: Pick<Tally, "callbackSent">;
  /** Absent if nothing is traced. */
  readonly spans?: Pick<Spans, "sent"> | undefined;
}

/** It is never sent unsigned, because a receiver that trusts everything would not notice. */
const UNSIGNABLE = {
  kind: "unreachable",
  reason: "cannot be signed: its secret is sealed with another key",
} as const;

/** A later version of the program may have written it. */
const UNKNOWN_FORM = {
  kind: "unreachable",
  reason: "cannot be worded: this version of the program does not know its form",
} as const;

/** @param delaysMs before attempts 2, 3 and so on @param ended called with the outcome and duration of each send that left */
export function createCallbackPosting(
  deps: CallbackDeps,
  delaysMs: () => readonly number[],
  ended: (callback: Callback, delivery: Delivery, tookMs: number) => void,
) {
  const { callbacks, clock, log } = deps;

  /** Records the outcome of a send, and when the next one is due. */
  async function record(send: CallbackSend, delivery: Delivery): Promise<void> {
    const now = clock.now();
    const delayMs = delayAfter(send.callback, delivery);
    await callbacks.record(send, delivery, now, delayMs === undefined ? undefined : now + delayMs);
    logDelivery(log, send, delivery);
    deps.tally.callbackSent(delivery.kind, isOver(send, delivery, delayMs));
  }

  function delayAfter(callback: Callback, delivery: Delivery): number | undefined {
    if (delivery.kind === "delivered" || delivery.kind === "forbidden") return undefined;
    const wantedMs = delivery.kind === "refused" ? delivery.retryAfterMs : undefined;
    const delays = formOf(deps, callback)?.delaysMs ?? delaysMs();
    return callbackDelayMs(delays, callback.attempts, deps.random(), wantedMs);
  }

  /** The outcome for an answer, by the statuses that acknowledge in the callback's form. */
  function judged(callback: Callback, delivery: Delivery): Delivery {
    const isAccepted = "status" in delivery ? formOf(deps, callback)?.accepts?.(delivery.status) : undefined;
    if (isAccepted === undefined || !("status" in delivery)) return delivery;
    return { ...delivery, kind: isAccepted ? "delivered" : "refused" };
  }

  return {
    record,
    /** Sends once and records the outcome. Never throws. */
    async run(send: CallbackSend, stopping: AbortSignal): Promise<void> {
      const { callback } = send;
      try {
        const task = await deps.tasks.byId(callback.taskId);
        // The task was deleted since the callback was claimed, and the callback with it.
        if (task === undefined) return;
        const form = formOf(deps, callback);
        if (callback.form !== undefined && form === undefined) return await record(send, UNKNOWN_FORM);
        const secret = await deps.accounts.callbackSecret(callback.keyId);
        if (secret === LOCKED && form?.isSignedByKey !== false) return await record(send, UNSIGNABLE);
        const kept = secret === LOCKED ? undefined : secret;
        const post = await wordedPost(deps, task, callback, { id: callback.id, at: clock.now(), kept });
        const leftAt = clock.elapsed();
        const delivery = judged(callback, await deps.egress.deliver(callback.url, post, stopping));
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

/** Whether the callback is acknowledged for the first time, or given up. A redelivery never gives a callback up. */
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
