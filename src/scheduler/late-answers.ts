import type { AttemptId, LaneId } from "../domain/ids.ts";
import { findRoute } from "../domain/model/model.ts";
import { ZERO } from "../domain/money/money.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type { PollResult, ProviderAdapter } from "../domain/ports/provider.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import type { LostAttempt, LostEnd } from "../domain/task/lost-attempt.ts";
import { unquotedAnswer } from "./unquoted.ts";

/** For how long an upstream is asked about a submission whose task has ended without an answer. */
const ASKED_FOR_MS = 86_400_000;
const LOOK_EVERY_MS = 60_000;
const FIRST_MS = 60_000;
/** Of an account. Each takes one request; the rest waits for the next look. */
const AT_ONCE = 50;
const ANSWER_MS = 30_000;

export interface LateAnswersDeps {
  readonly tasks: Pick<TaskStore, "lostAttempts" | "settleLost">;
  readonly adapters: () => readonly ProviderAdapter[];
  readonly catalog: Pick<Catalog, "find">;
  readonly clock: Pick<Clock, "now" | "elapsed" | "after">;
  readonly log: Log;
}

interface Asked {
  readonly nextAt: number;
  readonly delayMs: number;
}

/**
 * Finds out the outcome of submissions whose tasks ended without an answer, if the upstream can be asked: after one minute,
 * two, four and so on, for a day. Books what they cost the operator; until then the most that they can cost is booked. Stops
 * jobs that still run.
 */
export function createLateAnswers(deps: LateAnswersDeps) {
  const { tasks, clock, log } = deps;
  const asked = new Map<AttemptId, Asked>();
  const stopping = new AbortController();
  let cancelTimer = () => {};

  /** Asks about every submission that is due. @returns how many */
  async function tick(): Promise<number> {
    const lanes = deps.adapters().flatMap(({ lane, recover }) => (recover === undefined ? [] : [lane]));
    if (lanes.length === 0) return 0;
    const lost = await tasks.lostAttempts(lanes, clock.now() - ASKED_FOR_MS);
    const present = new Set(lost.map(({ attempt }) => attempt.id));
    for (const id of asked.keys()) if (!present.has(id)) asked.delete(id);
    const due = lost.filter(({ attempt }) => (asked.get(attempt.id)?.nextAt ?? 0) <= clock.elapsed());
    const ofAccounts = Map.groupBy(due, ({ attempt }) => attempt.lane).values();
    await Promise.all(ofAccounts.map((each) => inTurn(clock, each, stopping.signal, ask)));
    return due.length;
  }

  async function ask(lost: LostAttempt): Promise<void> {
    const { id } = lost.attempt;
    const delayMs = (asked.get(id)?.delayMs ?? FIRST_MS / 2) * 2;
    asked.set(id, { nextAt: clock.elapsed() + delayMs, delayMs });
    try {
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ANSWER_MS)]);
      const settled = await settledOf(deps, lost, signal);
      if (settled === undefined) return;
      await tasks.settleLost(id, settled);
      log.info({ task: lost.task.id, provider: lost.attempt.lane, ...settled }, "a late answer was booked");
    } catch (error) {
      if (!stopping.signal.aborted)
        log.debug({ task: lost.task.id, err: error as Error }, "no answer yet about a task that has ended");
    }
  }

  function arm(): void {
    if (stopping.signal.aborted) return;
    cancelTimer = clock.after(LOOK_EVERY_MS, () => {
      tick()
        .catch((error: unknown) => log.error({ err: error as Error }, "late answers could not be looked for"))
        .finally(arm);
    });
  }

  return {
    start: arm,
    tick,
    stop() {
      stopping.abort();
      cancelTimer();
    },
  };
}

/** Asks about what one account lost, until the next look is due: one that does not answer must not hold up the others. */
async function inTurn(
  clock: Pick<Clock, "elapsed">,
  due: readonly LostAttempt[],
  stopping: AbortSignal,
  ask: (lost: LostAttempt) => Promise<void>,
): Promise<void> {
  const until = clock.elapsed() + LOOK_EVERY_MS;
  for (const each of due.slice(0, AT_ONCE)) {
    if (stopping.aborted || clock.elapsed() >= until) break;
    await ask(each);
  }
}

async function settledOf(
  { adapters, catalog }: LateAnswersDeps,
  { task, attempt }: LostAttempt,
  signal: AbortSignal,
): Promise<LostEnd | undefined> {
  const adapter = adapterOf(adapters(), attempt.lane, attempt.terms);
  const model = catalog.find(task.model);
  const wording = model && findRoute(model, attempt)?.wording;
  const { id, upstreamModel, startedAt } = attempt;
  const submission = {
    attempt: id,
    taskId: task.id,
    upstreamModel,
    wording,
    request: task.request,
    startedAt,
  };
  const found = await adapter?.recover?.(submission, signal);
  if (found?.kind === "absent")
    return { state: "rejected", costMicros: ZERO, detail: "The upstream never received this attempt." };
  if (found?.kind !== "found") return undefined;
  const answer = await adapter?.poll?.(found.operation, signal);
  // Nobody waits for it any more.
  if (answer?.kind === "pending") await adapter?.cancel?.(found.operation, signal);
  return answer && endOf(unquotedAnswer(answer, task.request));
}

function endOf(answer: PollResult): LostEnd | undefined {
  switch (answer.kind) {
    case "pending":
      return undefined;
    case "succeeded":
      return {
        state: "done",
        costMicros: answer.costMicros,
        detail: "It was made; its task had ended by then.",
      };
    case "cancelled":
      return { state: "done", costMicros: ZERO, detail: "It was cancelled; its task had ended by then." };
    case "failed":
      return {
        state: "done",
        costMicros: answer.isCharged === true ? answer.costMicros : ZERO,
        detail: answer.detail ?? "It failed; its task had ended by then.",
      };
  }
}

function adapterOf(
  adapters: readonly ProviderAdapter[],
  lane: LaneId,
  terms: LostAttempt["attempt"]["terms"],
): ProviderAdapter | undefined {
  const adapter = adapters.find((each) => each.lane === lane);
  return terms === undefined ? adapter : (adapter?.withTerms?.(terms) ?? adapter);
}
