import { join } from "node:path";
import { installQueues, startQueue, startRedis } from "../baselines/queues/start.ts";
import { requestText } from "../load/plan.ts";
import { measureRate, type RateSubject, rateMeasurement } from "../run/rate.ts";
import type { Measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, holdSlot, ORDINARY, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import { type Bench, CLIENTS } from "./bench.ts";
import { creating } from "./creates.ts";

const PER_ROUND = 8_000;
const WARM_UP = 8_000;

/** Durable creates beside bare servers that put the same request into a queue of others. */
export const queues: Bench = async (context) => {
  await using resources = new Resources();
  const installed = await installQueues(context.shared);
  if ("refusal" in installed) {
    process.stderr.write(` skipped, for the queues could not be installed: ${installed.refusal}`);
    return [];
  }
  const redis = await startRedis(join(context.workspace, "redis"));
  if (redis === undefined) {
    process.stderr.write(" skipped, for there is no redis-server");
    return [];
  }
  await resources.open(Promise.resolve(redis));
  const request = requestText({ method: "POST", path: "/create", body: JSON.stringify(ORDINARY) });
  const queue = async (library: "bullmq" | "bunqueue"): Promise<RateSubject> => {
    const plan = { library, folder: installed.path, redisPort: redis.port };
    const server = await resources.open(startQueue(join(context.workspace, library), plan));
    return { server, requests: [request], connections: CLIENTS };
  };
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const server = await resources.open(startService(folder, { concurrency: 1 }));
  const slot = await holdSlot(server);
  const own = { server, requests: [creating(folder.unlimitedKey)], connections: CLIENTS };
  const subjects = { own, bullmq: await queue("bullmq"), bunqueue: await queue("bunqueue") };
  for (const subject of Object.values(subjects)) await measureRate(context.load, subject, WARM_UP);
  const measuring = (subject: RateSubject) => () =>
    measureRate(context.load, subject, context.scaled(PER_ROUND));
  const rates = await interleave(context.rounds, {
    own: measuring(subjects.own),
    bullmq: measuring(subjects.bullmq),
    bunqueue: measuring(subjects.bunqueue),
  });
  await slot.requireHeld();
  const line = (name: string, peer: typeof rates.own, note: string): Measurement =>
    rateMeasurement("creates, beside a queue of others", rates.own, { name, rates: peer }, { note });
  return [
    line(
      "BullMQ behind Hono",
      rates.bullmq,
      "Redis flushes every command before it answers; its processor time is not in that of the server",
    ),
    line(
      "bunqueue behind Hono",
      rates.bunqueue,
      "`durable`, as it comes: each job is committed before it is answered, but its commits are not flushed to the disk",
    ),
  ];
};
