import { type Answer, send } from "./client.ts";
import type { Dice } from "./dice.ts";
import { createDice } from "./dice.ts";
import type { Rehearsal } from "./rehearsal.ts";

/** What is known of one create. */
export type Outcome =
  /** 200. `sends` counts requests; more than one only with an idempotency key. `cost` is the amount that was told to be held. */
  | {
      readonly kind: "accepted";
      readonly taskId: string;
      readonly replayed: boolean;
      readonly sends: number;
      readonly cost: string | null;
    }
  | { readonly kind: "refused"; readonly status: number }
  /** No answer, and no idempotency key to ask again with: there may be one task or none. */
  | { readonly kind: "lost" };

export interface Creation {
  readonly account: string;
  readonly rehearsal: Rehearsal;
  readonly outcome: Outcome;
  cancel?: "not_sent" | "lost" | "taken" | "too_late";
}

export interface Load {
  readonly creations: Creation[];
  /** Answers nobody should get, in words. */
  readonly surprises: string[];
  /** Tells the clients how many tasks wait, so that they go slower rather than pile up work without end. */
  backlog(tasks: number): void;
  /** Resolves when the next create is on its way. */
  nextCreate(): Promise<void>;
  /** Reads under load that were answered. */
  reads(): number;
  /** Stops making new tasks; resolves when every question with an idempotency key is answered. */
  finish(): Promise<void>;
}

export interface Caller {
  readonly account: string;
  readonly key: string;
}

/** Of each of eight clients; more of them knock as often together. */
const PAUSE_WHEN_DOWN_MS = 8;
/** Waiting tasks from which on clients go slower. */
const BACKLOG = 80;
/** Enough for the tasks that wait to become fewer, however slow the server is. */
const MAX_SLOWNESS = 40;
/** The last questions are asked of a server that is up; it has this long. */
const FINISH_TRIES = 2_000;

/** Several clients at once, each with dice of its own, that go on whatever happens to the server. */
export function startLoad(options: {
  origin: string;
  seed: number;
  callers: readonly Caller[];
  pauseMs: [number, number];
  /** What the next task of a client is. */
  rehearse: (dice: Dice, marker: string) => Rehearsal;
}): Load {
  const creations: Creation[] = [];
  const surprises: string[] = [];
  let reads = 0;
  let slowness = 1;
  let isFinishing = false;
  const pauseWhenDownMs = PAUSE_WHEN_DOWN_MS * Math.max(1, options.callers.length / 8);
  let onCreate = Promise.withResolvers<void>();
  const cancels = new Set<Promise<void>>();

  async function runClient(caller: Caller, index: number): Promise<void> {
    const dice = createDice(options.seed, `client ${index}`);
    for (let count = 1; !isFinishing; count++) {
      const rehearsal = options.rehearse(dice, `marker-${index}-${count}`);
      const outcome = await create(caller, rehearsal);
      const creation: Creation = { account: caller.account, rehearsal, outcome };
      creations.push(creation);
      if (outcome.kind === "accepted" && rehearsal.cancelAfterMs !== undefined) {
        const work = cancelLater(caller, creation, outcome.taskId, rehearsal.cancelAfterMs).finally(() =>
          cancels.delete(work),
        );
        cancels.add(work);
      }
      await Bun.sleep(dice.between(...options.pauseMs) * slowness);
    }
  }

  async function create(caller: Caller, rehearsal: Rehearsal): Promise<Outcome> {
    const { idempotencyKey } = rehearsal;
    const request = {
      path: `/v1/${rehearsal.kind}s/generations`,
      key: caller.key,
      body: rehearsal.body,
      ...(idempotencyKey === undefined ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
    };
    let triesLeft = FINISH_TRIES;
    for (let sends = 1; triesLeft > 0; sends++) {
      onCreate.resolve();
      onCreate = Promise.withResolvers<void>();
      // Now and then the first answer is not waited for, as by a client that lost its connection.
      const withinMs = sends === 1 ? rehearsal.hangUpAfterMs : undefined;
      const answer = await send(options.origin, { ...request, withinMs });
      const outcome = answer && outcomeOf(answer, rehearsal, sends);
      if (outcome !== undefined) return outcome;
      if (answer === undefined && idempotencyKey === undefined) return { kind: "lost" };
      if (isFinishing) triesLeft--;
      await Bun.sleep(pauseWhenDownMs);
    }
    surprises.push(`${rehearsal.marker}: still no answer from a server that is up`);
    return { kind: "lost" };
  }

  /** Undefined: ask again with the same key. */
  function outcomeOf(answer: Answer, rehearsal: Rehearsal, sends: number): Outcome | undefined {
    const { status, data, headers } = answer;
    if (status === 200 && typeof data.task_id === "string") {
      const [replayed, cost] = [headers.has("x-idempotent-replay"), headers.get("x-request-cost")];
      return { kind: "accepted", taskId: data.task_id, replayed, sends, cost };
    }
    const isPassing = status === 503 || data.error_code === "idempotency_in_progress";
    if (isPassing && rehearsal.idempotencyKey !== undefined) return undefined;
    if (status !== 402 && status !== 503)
      surprises.push(`${rehearsal.marker}: ${status} ${JSON.stringify(answer.body)}`);
    return { kind: "refused", status };
  }

  async function cancelLater(
    caller: Caller,
    creation: Creation,
    taskId: string,
    afterMs: number,
  ): Promise<void> {
    creation.cancel = "not_sent";
    await Bun.sleep(afterMs);
    const answer = await send(options.origin, {
      path: `/v1/tasks/${taskId}/cancel`,
      key: caller.key,
      method: "POST",
    });
    if (answer === undefined || answer.status === 503) creation.cancel = "lost";
    else if (answer.status === 200) creation.cancel = "taken";
    else if (answer.status === 409) creation.cancel = "too_late";
    else surprises.push(`cancel of ${taskId}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Reads tasks at random, waiting on some; an accepted task may never be unknown. */
  async function runReader(callers: readonly Caller[], dice: Dice): Promise<void> {
    while (!isFinishing) {
      const creation =
        creations[dice.between(Math.max(0, creations.length - 60), Math.max(0, creations.length - 1))];
      const caller = callers.find((each) => each.account === creation?.account);
      if (creation?.outcome.kind === "accepted" && caller !== undefined) {
        const { taskId } = creation.outcome;
        const wait = dice.chance(0.3) ? "?wait=1" : "";
        const answer = await send(options.origin, {
          path: `/v1/${creation.rehearsal.kind}s/status/${taskId}${wait}`,
          key: caller.key,
        });
        if (answer?.status === 200) reads++;
        else if (answer !== undefined)
          surprises.push(`status of ${taskId}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await Bun.sleep(dice.between(5, 40));
    }
  }

  const work = [
    ...options.callers.map(runClient),
    ...[1, 2].map((number) => runReader(options.callers, createDice(options.seed, `reader ${number}`))),
  ];
  return {
    creations,
    surprises,
    backlog(tasks) {
      slowness = Math.min(MAX_SLOWNESS, Math.max(1, tasks / BACKLOG));
    },
    nextCreate: () => onCreate.promise,
    reads: () => reads,
    async finish() {
      isFinishing = true;
      await Promise.all(work);
      await Promise.all(cancels);
    },
  };
}
