import { Database } from "bun:sqlite";
import { copyFinished } from "../run/finished-tasks.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { type DataFolder, holdSlot, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";
import { creating } from "./creates.ts";

const TASKS = 1_000_000;
const FOR_MS = 5_000;

/** How long creates take while retention removes a million tasks, beside the same database where nothing is due. */
export const retention: Bench = async (context) => {
  const count = context.scaled(TASKS);
  const { folder } = copyFinished(context, { count, name: "retired" });
  await hold(folder);
  const p99Of = async (env: Readonly<Record<string, string>>): Promise<number> => {
    const service = await startService(folder, { concurrency: 1, env });
    try {
      const plan = {
        port: service.port,
        connections: 1,
        requests: [creating(folder.unlimitedKey)],
      };
      await context.load.run({ ...plan, until: { kind: "time", ms: FOR_MS / 5 } });
      const { p99Ms } = await context.load.run({ ...plan, until: { kind: "time", ms: FOR_MS } });
      return p99Ms;
    } finally {
      await service.stop();
    }
  };
  const values = await interleave(context.rounds, {
    quiet: () => p99Of({}),
    retiring: () => p99Of({ SVC_RETENTION_TASKS_SECONDS: "1" }),
  });
  return [
    measurement({
      name: `creates, p99, while ${count.toLocaleString("en-US")} tasks are removed`,
      unit: "ms",
      values: values.retiring,
      baseline: { name: "nothing is due", values: values.quiet },
      target: { kind: "mostRatio", value: 1.5 },
      note: `${removedOf(folder.database).toLocaleString("en-US")} were removed meanwhile`,
    }),
  ] satisfies Measurement[];
};

/** Has a task that goes on through restarts take the only slot, so that the created ones wait. */
async function hold(folder: DataFolder): Promise<void> {
  const service = await startService(folder, { concurrency: 1 });
  await holdSlot(service);
  await service.stop();
}

function removedOf(path: string): number {
  using db = new Database(path, { readonly: true });
  const row = db
    .query<{ count: number }, []>("select count(*) as count from task where status = 'removed'")
    .get();
  return row?.count ?? 0;
}
