import { join } from "node:path";
import type { LoadPlan } from "../load/plan.ts";
import { memoryMb } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import {
  copyDataFolder,
  createTask,
  holdSlot,
  ORDINARY,
  type Service,
  startService,
} from "../run/service.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";
import { creating } from "./creates.ts";
import { statusRequest } from "./statuses.ts";

const SETTLE_MS = 3_000;
const CREATES = 60_000;
const READS = 120_000;
const SAMPLE_EVERY_MS = 50;

/** Memory held in RAM by the service: at rest, and its highest while it is kept busy. */
export const memory: Bench = async (context) => {
  const idle: number[] = [];
  const busyCreating: number[] = [];
  const busyReading: number[] = [];
  for (let round = 0; round < Math.min(3, context.rounds); round++) {
    await using resources = new Resources();
    const folder = copyDataFolder(context.folder, join(context.workspace, `svc-${round}`));
    const service = await resources.open(startService(folder, { concurrency: 1 }));
    await Bun.sleep(SETTLE_MS);
    const atRest = memoryMb(service.pid);
    if (atRest === undefined) return [];
    idle.push(atRest.now);
    await holdSlot(service);
    const task = await createTask(service, ORDINARY);
    busyReading.push(await highestDuring(context, service, statusRequest(task, folder.unlimitedKey), READS));
    busyCreating.push(await highestDuring(context, service, creating(folder.unlimitedKey), CREATES));
  }
  return [
    measurement({ name: "memory, idle", unit: "MB", values: idle, target: { kind: "most", value: 150 } }),
    measurement({ name: "memory, highest during status reads", unit: "MB", values: busyReading }),
    measurement({ name: "memory, highest during creates after them", unit: "MB", values: busyCreating }),
  ];
};

async function highestDuring(
  context: BenchContext,
  service: Service,
  request: string,
  count: number,
): Promise<number> {
  let highest = 0;
  const sample = () => {
    highest = Math.max(highest, memoryMb(service.pid)?.now ?? 0);
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  const until: LoadPlan["until"] = { kind: "responses", count: context.scaled(count) };
  try {
    await context.load.run({ port: service.port, connections: CLIENTS, requests: [request], until });
    sample();
  } finally {
    clearInterval(timer);
  }
  return highest;
}
