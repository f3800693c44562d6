import { join } from "node:path";
import { type Baseline, startBaseline } from "../baselines/baseline.ts";
import { requestText, UNIQUE } from "../load/plan.ts";
import { costMeasurement, measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import { Resources } from "../run/resources.ts";
import {
  copyDataFolder,
  createTask,
  type DataFolder,
  type HeldSlot,
  holdSlot,
  ORDINARY,
  startService,
} from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";

const PER_ROUND = 15_000;
const WARM_UP = 15_000;
/** Processor time of each. */
const MOST_US = 62;
const MOST_KEYED_US = 75;
/** What a create of a prepaid account takes, beside one of an unlimited account. */
const MOST_PREPAID = 1.03;

/**
 * Durable creates: authenticated, checked against the schema, priced, held and stored, while the only slot is taken, so that
 * no generation competes. Each variant has a service and a database of its own.
 */
export const creates: Bench = async (context) => {
  await using resources = new Resources();
  const { unlimitedKey, prepaidKey } = context.folder;
  const held: HeldSlot[] = [];
  const serving = async (name: string, request: string): Promise<RateSubject> => {
    const folder = copyDataFolder(context.folder, join(context.workspace, name));
    const server = await resources.open(startService(folder, { concurrency: 1 }));
    held.push(await holdSlot(server));
    return { server, requests: [request], connections: CLIENTS };
  };
  const bare = async (baseline: Promise<Baseline>): Promise<RateSubject> => {
    const request = requestText({ method: "POST", path: "/create", body: JSON.stringify(ORDINARY) });
    return { server: await resources.open(baseline), requests: [request], connections: CLIENTS };
  };
  const pending = await withPendingTask(context);
  const subjects = {
    storing: await bare(
      startBaseline({ mode: "insert", database: pending.folder.database, template: pending.task }),
    ),
    unlimited: await serving("unlimited", creating(unlimitedKey)),
    prepaid: await serving("prepaid", creating(prepaidKey)),
    idempotent: await serving("idempotent", creating(unlimitedKey, { "Idempotency-Key": `order-${UNIQUE}` })),
    plain: await bare(startBaseline({ mode: "none" })),
  };
  const measuring = (subject: RateSubject) => () =>
    measureRate(context.load, subject, context.scaled(PER_ROUND));
  for (const subject of Object.values(subjects)) await measureRate(context.load, subject, WARM_UP);
  const rates = await interleave(context.rounds, {
    storing: measuring(subjects.storing),
    unlimited: measuring(subjects.unlimited),
    prepaid: measuring(subjects.prepaid),
    idempotent: measuring(subjects.idempotent),
    plain: measuring(subjects.plain),
  });
  for (const slot of held) await slot.requireHeld();

  const storing = { name: "bare Hono, the same insert, group commit", rates: rates.storing };
  const unlimited = { name: "unlimited account", rates: rates.unlimited };
  const plain = { name: "bare Hono without storage", rates: rates.plain };
  const least = (value: number) => ({ target: { kind: "leastRatio", value } }) as const;
  return [
    rateMeasurement("creates, unlimited account", rates.unlimited, storing, least(0.6)),
    ...costMeasurement("creates, unlimited account", rates.unlimited, { kind: "most", value: MOST_US }),
    rateMeasurement("creates, prepaid account", rates.prepaid, storing),
    ...costMeasurement(
      "creates, prepaid account",
      rates.prepaid,
      { kind: "mostRatio", value: MOST_PREPAID },
      unlimited,
    ),
    rateMeasurement("creates, fresh Idempotency-Key each", rates.idempotent, storing, least(0.5)),
    ...costMeasurement("creates, fresh Idempotency-Key each", rates.idempotent, {
      kind: "most",
      value: MOST_KEYED_US,
    }),
    rateMeasurement("creates, unlimited account", rates.unlimited, plain),
  ];
};

export function creating(key: string, headers: Readonly<Record<string, string>> = {}): string {
  return requestText({
    method: "POST",
    path: "/v1/images/generations",
    headers: { Authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(ORDINARY),
  });
}

/** A database with one waiting task, the row the baseline inserts again and again. */
async function withPendingTask(context: BenchContext): Promise<{ folder: DataFolder; task: string }> {
  const folder = copyDataFolder(context.folder, join(context.workspace, "baseline"));
  const service = await startService(folder, { concurrency: 1 });
  try {
    await holdSlot(service);
    return { folder, task: await createTask(service, ORDINARY) };
  } finally {
    await service.stop();
  }
}
