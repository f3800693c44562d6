import { join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { perSecond } from "../load/generator.ts";
import { requestText, UNIQUE } from "../load/plan.ts";
import { measurement } from "../run/report.ts";
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

/**
 * Durable creates: authenticated, checked against the schema, priced, held and stored, while the only slot is taken, so that
 * no generation competes. Each variant has a service and a database of its own.
 */
export const creates: Bench = async (context) => {
  await using resources = new Resources();
  const pending = await withPendingTask(context);
  const variants = {
    unlimited: creating(context.folder.unlimitedKey),
    prepaid: creating(context.folder.prepaidKey),
    idempotent: creating(context.folder.unlimitedKey, { "Idempotency-Key": `order-${UNIQUE}` }),
  };
  const bare = requestText({ method: "POST", path: "/create", body: JSON.stringify(ORDINARY) });

  const sending = (port: number, request: string) => {
    return async (count = context.scaled(PER_ROUND)) =>
      perSecond(
        await context.load.run({
          port,
          connections: CLIENTS,
          requests: [request],
          until: { kind: "responses", count },
        }),
      );
  };
  const held: HeldSlot[] = [];
  const serving = async (name: keyof typeof variants) => {
    const folder = copyDataFolder(context.folder, join(context.workspace, name));
    const service = await resources.open(startService(folder, { concurrency: 1 }));
    held.push(await holdSlot(service));
    return sending(service.port, variants[name]);
  };
  const storing = await resources.open(
    startBaseline({ mode: "insert", database: pending.folder.database, template: pending.task }),
  );
  const without = await resources.open(startBaseline({ mode: "none" }));
  const subjects = {
    baseline: sending(storing.port, bare),
    unlimited: await serving("unlimited"),
    prepaid: await serving("prepaid"),
    idempotent: await serving("idempotent"),
    none: sending(without.port, bare),
  };
  for (const send of Object.values(subjects)) await send(context.scaled(WARM_UP));
  const values = await interleave(context.rounds, {
    baseline: () => subjects.baseline(),
    unlimited: () => subjects.unlimited(),
    prepaid: () => subjects.prepaid(),
    idempotent: () => subjects.idempotent(),
    none: () => subjects.none(),
  });
  for (const slot of held) await slot.requireHeld();

  const baseline = { name: "bare Hono, the same insert, group commit", values: values.baseline };
  return [
    measurement({
      name: "creates, unlimited account",
      unit: "req/s",
      values: values.unlimited,
      baseline,
      target: { kind: "leastRatio", value: 0.5 },
    }),
    measurement({
      name: "creates, prepaid account",
      unit: "req/s",
      values: values.prepaid,
      baseline,
      target: { kind: "leastRatio", value: 0.5 },
    }),
    measurement({
      name: "creates, fresh Idempotency-Key each",
      unit: "req/s",
      values: values.idempotent,
      baseline,
      target: { kind: "leastRatio", value: 0.4 },
    }),
    measurement({
      name: "creates, unlimited account",
      unit: "req/s",
      values: values.unlimited,
      baseline: { name: "bare Hono without storage", values: values.none },
    }),
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
