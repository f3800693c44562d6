import { join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { requestText } from "../load/plan.ts";
import { copyFinished } from "../run/finished-tasks.ts";
import { costMeasurement, measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import type { Measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, type BenchContext, CLIENTS } from "./bench.ts";

const PER_ROUND = 40_000;
const WARM_UP = 40_000;
const FINISHED = 1_000;
const MANY = 1_000_000;
/** Of each of the many, in µs: read from the database, for the service keeps fewer in memory. */
const MOST_US = 60;

/** Status reads of finished tasks: a thousand of them in turn, beside one SELECT of the same rows, and any of a million. */
export const statuses: Bench = async (context) => {
  await using resources = new Resources();
  const { template, workspace, load } = context;
  const folder = copyDataFolder(context.folder, join(workspace, "svc"));
  const tasks = seedFinishedTasks(folder.database, { template, count: FINISHED, sample: FINISHED });
  const copied = copyDataFolder(folder, join(workspace, "baseline"));
  const bare: RateSubject = {
    server: await resources.open(startBaseline({ mode: "read", database: copied.database })),
    requests: tasks.map((task) => requestText({ method: "GET", path: `/status/${task}` })),
    connections: CLIENTS,
  };
  const svc: RateSubject = {
    server: await resources.open(startService(folder)),
    requests: tasks.map((task) => statusRequest(task, folder.unlimitedKey)),
    connections: CLIENTS,
  };
  for (const subject of [bare, svc]) await measureRate(load, subject, WARM_UP);
  const count = context.scaled(PER_ROUND);
  const rates = await interleave(context.rounds, {
    bare: () => measureRate(load, bare, count),
    svc: () => measureRate(load, svc, count),
  });
  const baseline = { name: "bare Hono, SELECT by primary key", rates: rates.bare };
  return [
    rateMeasurement("status reads", rates.svc, baseline, { target: { kind: "leastRatio", value: 0.6 } }),
    ...(await ofMany(context, resources)),
  ];
};

async function ofMany(context: BenchContext, resources: Resources): Promise<Measurement[]> {
  const finished = context.scaled(MANY);
  const { folder, tasks } = copyFinished(context, { count: finished, name: "many" });
  const compared = copyDataFolder(folder, join(context.workspace, "many-bare"));
  const bare: RateSubject = {
    server: await resources.open(startBaseline({ mode: "read", database: compared.database })),
    requests: tasks.map((task) => requestText({ method: "GET", path: `/status/${task}` })),
    connections: CLIENTS,
  };
  const subject: RateSubject = {
    server: await resources.open(startService(folder)),
    requests: tasks.map((task) => statusRequest(task, folder.unlimitedKey)),
    connections: CLIENTS,
  };
  // Once each, so that what is measured are reads of what is known no more.
  for (const each of [bare, subject]) await measureRate(context.load, each, tasks.length);
  const count = context.scaled(PER_ROUND);
  const rates = await interleave(context.rounds, {
    bare: () => measureRate(context.load, bare, count),
    svc: () => measureRate(context.load, subject, count),
  });
  const name = `status reads, at random of ${finished.toLocaleString("en-US")} finished tasks`;
  const baseline = { name: "bare Hono, SELECT by primary key", rates: rates.bare };
  return [
    rateMeasurement(name, rates.svc, baseline),
    ...costMeasurement(name, rates.svc, { kind: "most", value: MOST_US }),
  ];
}

export function statusRequest(task: string, key: string): string {
  return requestText({
    method: "GET",
    path: `/v1/images/status/${task}`,
    headers: { Authorization: `Bearer ${key}` },
  });
}
