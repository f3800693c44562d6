import { join } from "node:path";
import type { ModelId } from "../../../src/domain/ids.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { presentOverview } from "../../../src/http/admin/overview/present.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { createTally } from "../../../src/runtime/tally.ts";
import { threadCpuMs } from "../../../src/runtime/thread-time.ts";
import { readDiskSpace, watchVitals } from "../../../src/runtime/vitals.ts";
import { createReadOverview } from "../../../src/service/read-overview.ts";
import { openStore } from "../../../src/store/open.ts";
import { lane, newTask, taskId } from "../../helpers/store.ts";
import { requestText } from "../load/plan.ts";
import { measureRate } from "../run/rate.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, createToken, type DataFolder, startService } from "../run/service.ts";
import type { Bench, BenchContext } from "./bench.ts";

const FINISHED = 100_000;
const QUEUED = 20_000;
const LANES = ["sandbox", "openai", "fal"].map(lane);
const MODELS = 20;
const READS = 400;
const POLLS = 20_000;

/** What a reading of the overview costs, with a hundred thousand finished tasks and twenty thousand queued ones. */
export const overview: Bench = async (context) => {
  const folder = seeded(context);
  return [
    measurement({
      name: "overview, one reading: processor time",
      unit: "ms",
      values: await readings(context, folder),
      target: { kind: "most", value: 1 },
      note: "of the thread that answers; whoever asks within a second shares a reading",
    }),
  ];
};

/** The same from the executable, asked as often as it answers. */
export const overviewPolls: Bench = async (context) => {
  return [
    measurement({
      name: "overview, many watchers: processor time of each answer",
      unit: "µs",
      values: await polls(context, seeded(context)),
    }),
  ];
};

function seeded({ folder, workspace, template }: BenchContext): DataFolder {
  const own = copyDataFolder(folder, join(workspace, "svc"));
  seedFinishedTasks(own.database, { template, count: FINISHED, sample: 1 });
  return own;
}

/** Every reading anew, in this process, so that nothing but the reading is counted. */
async function readings({ rounds, scaled }: BenchContext, folder: DataFolder): Promise<number[]> {
  const store = openStore({ path: folder.database });
  let elapsedMs = 0;
  const clock = { ...createSystemClock(), elapsed: () => elapsedMs };
  const vitals = watchVitals({ clock: createSystemClock(), computedMs: () => 0, lagged() {} });
  const tally = createTally({ clock });
  try {
    await queueTasks(store);
    for (let i = 0; i < MODELS * 1_000; i++)
      tally.ended({
        ...{ model: `model-${i % MODELS}` as ModelId, provider: LANES[i % LANES.length] ?? lane("none") },
        ...{ status: i % 50 === 0 ? "failed" : "completed", durationMs: i, charged: toMicros(40_000) },
      });
    const read = createReadOverview({
      ...{ ...store, clock, counts: tally, vitals: vitals.read, capacity: 100 },
      disk: () => readDiskSpace(folder.path, folder.database),
      stays: () => ({ streams: 0, waits: 0 }),
      notReady: () => undefined,
      lanes: LANES.map((each) => ({ lane: each, capacity: 100 })),
    });
    const identity = { version: "1", startedAt: 0, node: "bench" };
    const count = scaled(READS);
    const run = async () => {
      const before = threadCpuMs();
      for (let i = 0; i < count; i++) {
        elapsedMs += 1_000;
        tally.answered(200);
        JSON.stringify(presentOverview(await read(), identity));
      }
      return (threadCpuMs() - before) / count;
    };
    await run();
    const values: number[] = [];
    for (let round = 0; round < rounds; round++) values.push(await run());
    return values;
  } finally {
    vitals.stop();
    await store.stop();
  }
}

async function queueTasks(store: ReturnType<typeof openStore>): Promise<void> {
  const [owner] = await store.accounts.accounts({ limit: 100 });
  if (owner === undefined) throw new Error("The folder has no account.");
  const admitting = Array.from({ length: QUEUED }, (_, i) => {
    const place = { accountId: owner.id, lane: LANES[i % LANES.length] ?? lane("none") };
    const id = { number: i, id: taskId(i), createdAt: Date.now() - i * 10 };
    return store.tasks.admit({ task: newTask({ ...id, ...place }), assets: [] });
  });
  await Promise.all(admitting);
}

async function polls({ load, rounds, scaled }: BenchContext, folder: DataFolder): Promise<number[]> {
  await using resources = new Resources();
  const token = await createToken(folder, "watcher");
  const request = requestText({
    method: "GET",
    path: "/admin/v1/overview",
    headers: { Authorization: `Bearer ${token}` },
  });
  const server = await resources.open(startService(folder, { concurrency: 1 }));
  const subject = { server, requests: [request], connections: 8 };
  const values: number[] = [];
  await measureRate(load, subject, scaled(POLLS));
  for (let round = 0; round < rounds; round++) {
    const { cpuUs } = await measureRate(load, subject, scaled(POLLS));
    if (cpuUs !== undefined) values.push(cpuUs);
  }
  return values;
}
