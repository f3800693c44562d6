import type { LaneId, ModelId } from "../domain/ids.ts";
import { toMicros } from "../domain/money/money.ts";
import {
  type EndedTask,
  type Endings,
  type HourCounts,
  type Judged,
  type ModelEndings,
  type ProviderEndings,
  STATUS_CLASSES,
} from "../domain/overview.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts } from "../domain/ports/tally.ts";
import { createCheckCounts } from "./check-counts.ts";
import { bucketOf, DURATION_BUCKETS, quantileMs } from "./duration-buckets.ts";
import { createSlidingSums, type SlidingSums } from "./sliding-sums.ts";

const SECONDS = 60;
const MINUTES = 60;
const MINUTE_MS = 60_000;

/** The events that the overview counts. */
interface Windows extends Counts {
  answered(status: number): void;
  created(): void;
  ended(task: EndedTask): void;
  moderated(judged: Judged): void;
}

/** The places of a minute's sums: one for each class of status, then the creates. */
const CLASSES = STATUS_CLASSES.map((_, i) => i);
const CREATED = STATUS_CLASSES.length;

/** The places of an hour's sums. A model's durations follow. */
const [COMPLETED, FAILED, CHARGED, DURATIONS] = [0, 1, 2, 3];

/**
 * Counts requests and creates by second for a minute, and ends of tasks by minute for an hour. The memory is fixed: about 100 KB for
 * each model in use.
 */
export function createTally({ clock }: { readonly clock: Pick<Clock, "now" | "elapsed"> }): Windows {
  const { elapsed } = clock;
  const startedAt = elapsed();
  const traffic = createSlidingSums({
    slots: SECONDS + 1,
    slotMs: 1_000,
    width: CREATED + 1,
    elapsed,
  });
  const endings = createEndings(clock);
  const checks = createCheckCounts(elapsed);

  return {
    answered: (status) => traffic.add(classOf(status), 1),
    created: () => traffic.add(CREATED, 1),
    ended: (task) => endings.add(task, elapsed()),
    moderated: checks.add,
    recall: endings.recall,
    hour: () => ({ ...endings.read(), checks: checks.read() }),
    hourOf: endings.readOf,
    minute() {
      const sums = traffic.read();
      const [first, now] = [Math.floor(startedAt / 1_000), Math.floor(elapsed() / 1_000)];
      const seconds = now - first;
      const shown = Math.min(SECONDS, seconds);
      const [ok = 0, moved = 0, refused = 0, failed = 0] = sums;
      return {
        lengthMs: elapsed() - Math.max(startedAt, traffic.startsAt()),
        answered: { "2xx": ok, "3xx": moved, "4xx": refused, "5xx": failed },
        created: sums[CREATED] ?? 0,
        seconds,
        answeredBySecond: traffic.history(CLASSES, shown),
        createdBySecond: traffic.history([CREATED], shown),
      };
    },
  };
}

/** Counts ends of tasks by model and by provider. */
function createEndings(clock: Pick<Clock, "now" | "elapsed">) {
  const { elapsed } = clock;
  const models = new Map<ModelId, SlidingSums>();
  const providers = new Map<LaneId, SlidingSums>();
  /** By account and model. */
  const routes = new Map<string, SlidingSums>();
  /** Since when every end is counted. */
  let countsFrom = elapsed();

  const open = (width: number) => createSlidingSums({ slots: MINUTES, slotMs: MINUTE_MS, width, elapsed });

  function add({ model, provider, status, durationMs, charged }: EndedTask, at: number): void {
    const outcome = status === "completed" ? COMPLETED : FAILED;
    const ofModel = models.getOrInsertComputed(model, () => open(DURATIONS + DURATION_BUCKETS));
    ofModel.add(outcome, 1, at);
    ofModel.add(CHARGED, charged, at);
    if (status === "completed") ofModel.add(DURATIONS + bucketOf(durationMs), 1, at);
    providers.getOrInsertComputed(provider, () => open(DURATIONS)).add(outcome, 1, at);
    routes.getOrInsertComputed(`${provider} ${model}`, () => open(CHARGED)).add(outcome, 1, at);
  }

  return {
    add,
    recall({ since, tasks }: Parameters<Counts["recall"]>[0]): void {
      // A time of the past on the clock that never jumps; both clocks read now.
      const at = (epochMs: number) => elapsed() - Math.max(0, clock.now() - epochMs);
      for (const task of tasks) add(task, at(task.endedAt));
      countsFrom = Math.min(countsFrom, at(since));
    },
    readOf: (provider: LaneId, model: ModelId) => endingsOf(routes.get(`${provider} ${model}`)),
    read(): Omit<HourCounts, "checks"> {
      const windowFrom = (Math.floor(elapsed() / MINUTE_MS) - MINUTES + 1) * MINUTE_MS;
      let charged = 0;
      const ofModels: ModelEndings[] = [];
      for (const [model, sums] of sorted(models)) {
        const all = sums.read();
        const [completed = 0, failed = 0, amount = 0] = all;
        const durations = all.subarray(DURATIONS);
        charged += amount;
        if (completed + failed === 0) models.delete(model);
        else
          ofModels.push({
            ...{ model, completed, failed },
            p50Ms: quantileMs(durations, 0.5),
            p95Ms: quantileMs(durations, 0.95),
          });
      }
      const ofProviders = sorted(providers).map(
        ([provider, sums]): ProviderEndings => ({ provider, ...endingsOf(sums) }),
      );
      return {
        since: clock.now() - (elapsed() - Math.max(countsFrom, windowFrom)),
        models: ofModels,
        providers: ofProviders,
        charged: toMicros(charged),
      };
    },
  };
}

function endingsOf(sums: SlidingSums | undefined): Endings {
  const [completed = 0, failed = 0] = sums?.read() ?? [];
  return { completed, failed };
}

function sorted<Id extends string>(sums: ReadonlyMap<Id, SlidingSums>): [Id, SlidingSums][] {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The place of a status; one without an answer of its own counts as an error of the server. */
function classOf(status: number): number {
  return Math.min(3, Math.max(0, Math.floor(status / 100) - 2));
}
