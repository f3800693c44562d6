import { join } from "node:path";
import { startBaseline } from "../baselines/baseline.ts";
import { perSecond } from "../load/generator.ts";
import { requestText } from "../load/plan.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, CLIENTS } from "./bench.ts";

const PER_ROUND = 40_000;
const FINISHED = 1_000;

/** Status reads of finished tasks, a thousand of them in turn, beside one SELECT of the same rows. */
export const statuses: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const tasks = seedFinishedTasks(folder.database, {
    template: context.template,
    count: FINISHED,
    sample: FINISHED,
  });
  const copied = copyDataFolder(folder, join(context.workspace, "baseline"));
  const service = await resources.open(startService(folder));
  const bare = await resources.open(startBaseline({ mode: "read", database: copied.database }));
  const count = context.scaled(PER_ROUND);
  const reading = (port: number, requests: readonly string[]) => async () =>
    perSecond(
      await context.load.run({ port, connections: CLIENTS, requests, until: { kind: "responses", count } }),
    );
  const subjects = {
    baseline: reading(
      bare.port,
      tasks.map((task) => requestText({ method: "GET", path: `/status/${task}` })),
    ),
    svc: reading(
      service.port,
      tasks.map((task) => statusRequest(task, folder.unlimitedKey)),
    ),
  };
  for (const read of Object.values(subjects)) await read();
  const values = await interleave(context.rounds, subjects);
  return [
    measurement({
      name: "status reads",
      unit: "req/s",
      values: values.svc,
      baseline: { name: "bare Hono, SELECT by primary key", values: values.baseline },
      target: { kind: "leastRatio", value: 0.6 },
    }),
  ];
};

export function statusRequest(task: string, key: string): string {
  return requestText({
    method: "GET",
    path: `/v1/images/status/${task}`,
    headers: { Authorization: `Bearer ${key}` },
  });
}
