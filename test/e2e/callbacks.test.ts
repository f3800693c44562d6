import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

interface Delivery {
  readonly headers: Headers;
  readonly body: unknown;
}

/** Where callbacks arrive; answers with the statuses given, then with 204. */
function openReceiver(statuses: readonly number[] = []) {
  const left = [...statuses];
  const deliveries: Delivery[] = [];
  const waiting: (() => void)[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      deliveries.push({ headers: request.headers, body: await request.json() });
      for (const resolve of waiting.splice(0)) resolve();
      return new Response(null, { status: left.shift() ?? 204 });
    },
  });
  receivers.push(receiver);
  return {
    url: `http://127.0.0.1:${receiver.port}/hook?token=7`,
    deliveries,
    async received(count: number) {
      while (deliveries.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

const receivers: { stop(now: boolean): Promise<void> }[] = [];
let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer({ args: ALLOW_LOOPBACK });
  api = createApi(server.url, server.firstKey());
});

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop(true);
});

afterAll(stopServers);

describe("a callback", () => {
  test("tells of a completed task, with exactly the fields of the contract", async () => {
    const { url: callback_url, deliveries, received } = openReceiver();
    const created = await api.create({ ...IMAGE, n: 2, callback_url }, { "X-Request-ID": "order-17" });
    const task = await api.wait(created.data.task_id ?? "");
    await received(1);
    const [{ headers, body } = { headers: new Headers(), body: undefined }] = deliveries;
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("user-agent")).toBe("Service-Callback/1.0");
    expect(body).toEqual({
      task_id: created.data.task_id ?? "",
      request_id: "order-17",
      status: "completed",
      result: task.result,
      created_at: expect.stringMatching(ISO),
      completed_at: expect.stringMatching(ISO),
    });
  });

  test("tells of a failed task, and nothing tells of a cancelled one", async () => {
    const { url: callback_url, deliveries, received } = openReceiver();
    const cancelled = await api.accept({ ...IMAGE, callback_url, sandbox: { outcome: "hang" } });
    await api.send(`/v1/tasks/${cancelled}/cancel`, { method: "POST" });
    expect((await api.wait(cancelled)).status).toBe("cancelled");
    const failed = await api.make({ ...IMAGE, callback_url, sandbox: { delay_ms: 0, outcome: "moderated" } });
    await received(1);
    expect(deliveries.map(({ body }) => body)).toEqual([
      {
        task_id: failed.task_id,
        request_id: expect.stringMatching(/^req_/),
        status: "failed",
        error: failed.error_message,
        error_code: "CONTENT_MODERATED",
        created_at: expect.stringMatching(ISO),
        completed_at: expect.stringMatching(ISO),
      },
    ]);
  });

  test("refused by its receiver comes again, also when the server was killed meanwhile", async () => {
    const { url: callback_url, deliveries, received } = openReceiver([503]);
    const { task_id } = await api.make({ ...IMAGE, callback_url });
    await received(1);
    const attempts = () =>
      readDatabase<{ attempts: number; state: string }>(
        server.dataDir,
        `SELECT attempts, state FROM callback WHERE task_id = '${task_id}'`,
      )[0];
    for (let tries = 0; tries < 200 && !hasOutcome(task_id); tries++) await Bun.sleep(5);
    expect(attempts()).toEqual({ attempts: 1, state: "due" });
    server.signal("SIGKILL");
    await server.exited;
    const { folder, port } = server;
    server = await startServer({ folder, port, args: ALLOW_LOOPBACK });
    await received(2);
    expect(deliveries[1]?.body).toEqual(deliveries[0]?.body);
    for (let tries = 0; tries < 200 && attempts()?.state === "due"; tries++) await Bun.sleep(5);
    expect(attempts()).toEqual({ attempts: 2, state: "delivered" });
  }, 15_000);
});

/** Whether the answer to the first send is recorded; until then another send would come only much later. */
function hasOutcome(taskId: string): boolean {
  const sql = `SELECT outcome FROM callback_attempt JOIN callback ON id = callback_id WHERE task_id = '${taskId}'`;
  return readDatabase<{ outcome: string | null }>(server.dataDir, sql)[0]?.outcome != null;
}
