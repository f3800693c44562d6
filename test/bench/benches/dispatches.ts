import { Database } from "bun:sqlite";
import { join } from "node:path";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import {
  copyDataFolder,
  createTask,
  readStatus,
  type Service,
  SMALLEST,
  startService,
  TINY,
} from "../run/service.ts";
import { quantile } from "../run/statistics.ts";
import { arrivals } from "./arrivals.ts";
import type { Bench } from "./bench.ts";

const TASKS = 150;
const WARM_UP = 40;
const PAUSE_MS = 8;

const NOTE =
  "one task at a time on an idle server; from the create's arrival (created_at) to the sandbox upstream having the submission " +
  "on record (submitted_at), each a whole millisecond, so that a single figure is true to 1 ms and the mean to much less";

/** How long a created task waits until its upstream has it, when nothing else is going on. */
export const dispatches: Bench = async (context) => {
  await using resources = new Resources();
  const service = await resources.open(
    startService(copyDataFolder(context.folder, join(context.workspace, "svc"))),
  );
  const p50: number[] = [];
  const p99: number[] = [];
  const mean: number[] = [];
  await runTasks(service, WARM_UP);
  for (let round = 0; round < context.rounds; round++) {
    const latencies = dispatchLatencies(service, await runTasks(service, context.scaled(TASKS)));
    p50.push(quantile(latencies, 0.5));
    p99.push(quantile(latencies, 0.99));
    mean.push(latencies.reduce((sum, each) => sum + each, 0) / latencies.length);
  }
  return [
    ...(await arrivals(context, resources)),
    measurement({
      name: "create to dispatch, p50",
      unit: "ms",
      values: p50,
      target: { kind: "most", value: 3 },
      note: NOTE,
      renders: SMALLEST,
    }),
    measurement({ name: "create to dispatch, mean", unit: "ms", values: mean, renders: SMALLEST }),
    measurement({ name: "create to dispatch, p99", unit: "ms", values: p99, renders: SMALLEST }),
  ];
};

/** Creates tasks one after the other, each when the one before it is over and a pause has passed. */
export async function runTasks(service: Service, count: number): Promise<string[]> {
  const tasks: string[] = [];
  for (let i = 0; i < count; i++) {
    const task = await createTask(service, TINY);
    tasks.push(task);
    await readStatus(service, task, 10);
    // Of uneven length, so that the milliseconds' edges fall anywhere.
    await Bun.sleep(PAUSE_MS + (i % 7));
  }
  return tasks;
}

/** @returns ms from acceptance to the upstream's own record, ascending */
export function dispatchLatencies(service: Service, tasks: readonly string[]): number[] {
  using db = new Database(service.folder.database, { readonly: true });
  db.run(`attach database '${join(service.folder.path, "sandbox", "upstream.db")}' as upstream`);
  const select = db.query<{ latency: number }, [string]>(
    `select operation.submitted_at - task.created_at as latency
     from task join upstream.operation as operation on operation.task_id = task.id where task.id = ?`,
  );
  return tasks
    .map((task) => {
      const row = select.get(task);
      if (row === null) throw new Error(`The upstream has no record of ${task}.`);
      return row.latency;
    })
    .sort((a, b) => a - b);
}
