import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { readDatabase } from "./support/database.ts";
import { openReceiver, type Receiver, type ReceiverOptions } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const receivers: Receiver[] = [];
let server: Server;
let api: Api;

function receive(options: ReceiverOptions = {}): Receiver {
  const receiver = openReceiver(options);
  receivers.push(receiver);
  return receiver;
}

beforeAll(async () => {
  server = await startServer({ args: ALLOW_LOOPBACK });
  api = createApi(server.url, server.firstKey());
});

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

afterAll(stopServers);

describe("a callback", () => {
  test("tells of a completed task, with exactly the fields of the contract", async () => {
    const { url: callback_url, posts, received } = receive();
    const created = await api.create({ ...IMAGE, n: 2, callback_url }, { "X-Request-ID": "order-17" });
    const task = await api.wait(created.data.task_id ?? "");
    await received(1);
    const [{ headers, body } = { headers: new Headers(), body: {} }] = posts;
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
    const { url: callback_url, posts, received } = receive();
    const cancelled = await api.accept({ ...IMAGE, callback_url, sandbox: { outcome: "hang" } });
    await api.send(`/v1/tasks/${cancelled}/cancel`, { method: "POST" });
    expect((await api.wait(cancelled)).status).toBe("cancelled");
    const failed = await api.make({ ...IMAGE, callback_url, sandbox: { delay_ms: 0, outcome: "moderated" } });
    await received(1);
    expect(posts.map(({ body }) => body)).toEqual([
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
    const {
      url: callback_url,
      posts,
      received,
    } = receive({ answers: [new Response(null, { status: 503 })] });
    const { task_id } = await api.make({ ...IMAGE, callback_url });
    await received(1);
    const attempts = () =>
      readDatabase<{ attempts: number; state: string }>(
        server.dataDir,
        `SELECT attempts, state FROM callback WHERE task_id = '${task_id}'`,
      )[0];
    for (let tries = 0; tries < 6_000 && !hasOutcome(task_id); tries++) await Bun.sleep(5);
    expect(attempts()).toEqual({ attempts: 1, state: "pending" });
    server.signal("SIGKILL");
    await server.exited;
    const { folder, port } = server;
    server = await startServer({ folder, port, args: ALLOW_LOOPBACK });
    await received(2);
    expect(posts[1]?.body).toEqual(posts[0]?.body ?? {});
    for (let tries = 0; tries < 6_000 && attempts()?.state === "pending"; tries++) await Bun.sleep(5);
    expect(attempts()).toEqual({ attempts: 2, state: "delivered" });
  });
});

/** Whether the answer to the first send is recorded; until then another send would come only much later. */
function hasOutcome(taskId: string): boolean {
  const sql = `SELECT outcome FROM callback_attempt JOIN callback ON id = callback_id WHERE task_id = '${taskId}'`;
  return readDatabase<{ outcome: string | null }>(server.dataDir, sql)[0]?.outcome != null;
}
