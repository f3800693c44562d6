/*
 * A bare server that puts a job into a queue of others for each request and answers once it is stored: what a program does that
 * accepts tasks with such a library. Hono like the other bare servers. Takes a plan as its argument.
 */
import { Hono } from "hono";
import type { QueuePlan } from "./plan.ts";

/** As much of both libraries as is used. */
interface QueueModule {
  readonly Queue: new (
    name: string,
    options: object,
  ) => { add(name: string, data: unknown, options?: object): Promise<{ readonly id?: string }> };
}

// Handed over by the parent, which is of the same version.
const plan = JSON.parse(process.argv[2] ?? "null") as QueuePlan;
const add = await openQueue(plan);
const app = new Hono();
app.post("/create", async (context) => {
  const id = await add(await context.req.json());
  return context.json({ code: 200, message: "success", data: { task_id: id } });
});
Bun.serve({
  hostname: "127.0.0.1",
  port: plan.port,
  development: false,
  fetch: (request) => app.fetch(request),
});

async function openQueue({ library, folder, redisPort }: QueuePlan) {
  const entry = library === "bullmq" ? "bullmq" : "bunqueue/client";
  // The version is that of the lock file beside this one.
  const { Queue } = (await import(Bun.resolveSync(entry, folder))) as QueueModule;
  const place =
    library === "bullmq" ? { connection: { host: "127.0.0.1", port: redisPort } } : { embedded: true };
  const queue = new Queue("tasks", place);
  const options = library === "bullmq" ? {} : { durable: true };
  return async (data: unknown): Promise<string> => (await queue.add("task", data, options)).id ?? "";
}
