import { describe, expect, test } from "bun:test";
import {
  ACCEPTING,
  MODEL,
  refusal,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  success,
} from "./scripted-server.ts";
import { type RunOptions, svc } from "./support.ts";

const TASK = "task_01jd0000000000000000000000";
const TIME = "2026-11-21T14:00:00.000Z";

function run(server: ScriptedServer, args: readonly string[], options: RunOptions = {}) {
  return svc(["callbacks", ...args], {
    ...options,
    env: { SVC_SERVER: server.url, SVC_API_KEY: "sk-svc-test", ...options.env },
  });
}

const callback = (number: number, more: object = {}) => ({
  id: `cb_${number}`,
  task_id: `task_${number}`,
  request_id: `req_${number}`,
  url: `https://hooks.example/svc?token=t${number}`,
  state: "failed",
  attempts: 5,
  max_attempts: 5,
  next_attempt_at: null,
  redelivery_due: false,
  created_at: TIME,
  ...more,
});
const send = (more: object = {}) => ({
  sequence: 1,
  kind: "attempt",
  started_at: TIME,
  ended_at: TIME,
  duration_ms: 12,
  outcome: "refused",
  status: 500,
  address: "203.0.113.7",
  answer: "no\u001b[2J way\nreally",
  error: null,
  ...more,
});
const inFull = (number: number, more: object = {}) => ({
  ...callback(number),
  payload: { task_id: `task_${number}`, status: "completed", result: ["http://x/a.png"] },
  history: [send()],
  ...more,
});

/** A receiver of the user's own machine that answers with the given status. */
function openReceiver(status: number) {
  const bodies: string[] = [];
  const headers: Headers[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      headers.push(request.headers);
      bodies.push(await request.text());
      return new Response("noted", { status });
    },
  });
  return {
    url: `http://127.0.0.1:${receiver.port}/hook`,
    bodies,
    headers,
    [Symbol.dispose]: () => void receiver.stop(true),
  };
}

describe("callbacks list", () => {
  const pages: Script = {
    "GET /v1/callbacks": () =>
      success({
        callbacks: [callback(1), callback(2, { state: "pending", attempts: 1, next_attempt_at: TIME })],
        next: "cb_2",
      }),
  };

  test("prints a line each, without the query of the URL, and says how to go on", async () => {
    using server = startScriptedServer(pages);
    const { exitCode, stdout, stderr } = await run(server, ["list"]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      "cb_1\ttask_1\tfailed\t5/5\t\thttps://hooks.example/svc?…\t2026-11-21 14:00:00Z\n" +
        "cb_2\ttask_2\tpending\t1/5\t2026-11-21 14:00:00Z\thttps://hooks.example/svc?…\t2026-11-21 14:00:00Z\n",
    );
    expect(stderr).toBe("More: svc callbacks list --after cb_2\n");
  });

  test("hands on what it is asked for, and everything there is under --json", async () => {
    using server = startScriptedServer(pages);
    const { stdout } = await run(server, [
      "list",
      ...["--state", "failed", "--task", TASK, "--since", "2026-11-21", "--limit", "7", "--after", "cb_9"],
      "--json",
    ]);
    expect(JSON.parse(stdout).callbacks[0].url).toBe("https://hooks.example/svc?token=t1");
    const query = new URLSearchParams(server.seen[0]?.path.split("?")[1]);
    expect(Object.fromEntries(query)).toEqual({
      state: "failed",
      task_id: TASK,
      from: "2026-11-21T00:00:00.000Z",
      limit: "7",
      after: "cb_9",
    });
  });

  test("goes back from now with a duration", async () => {
    using server = startScriptedServer(pages);
    await run(server, ["list", "--since", "2h"]);
    const from = new URLSearchParams(server.seen[0]?.path.split("?")[1]).get("from") ?? "";
    expect(Math.abs(Date.now() - 2 * 3_600_000 - Date.parse(from))).toBeLessThan(60_000);
  });

  test.each([
    [["list", "--state", "lost"], "--state must be one of pending, delivered, failed"],
    [["list", "--since", "yesterday"], "--since must be how long ago"],
    [["lsit"], "Did you mean list?"],
  ])("%j is a mistake of the command line", async (args, said) => {
    using server = startScriptedServer(pages);
    const { exitCode, stderr } = await run(server, args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(server.seen).toEqual([]);
  });
});

describe("callbacks show", () => {
  test("prints fields, payload and every send, none of which commands the terminal", async () => {
    using server = startScriptedServer({ "GET /v1/callbacks/cb_1": () => success(inFull(1)) });
    const { stdout } = await run(server, ["show", "cb_1"]);
    expect(stdout).toContain("url\thttps://hooks.example/svc?token=t1\n");
    expect(stdout).toContain(
      'payload\t{"task_id":"task_1","status":"completed","result":["http://x/a.png"]}\n',
    );
    expect(stdout).toEndWith(
      "send\t1\tattempt\t2026-11-21 14:00:00Z\t12 ms\trefused\t500\t203.0.113.7\tno\\u001b[2J way…\t\n",
    );
    expect(stdout).not.toContain("\u001b");
    const json = await run(server, ["show", "cb_1", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(inFull(1));
  });

  test("finds the callback of a task, and says when there is none", async () => {
    using server = startScriptedServer({
      "GET /v1/callbacks": (_seen, times) =>
        success({ callbacks: times === 1 ? [callback(1)] : [], next: null }),
      "GET /v1/callbacks/cb_1": () => success(inFull(1)),
    });
    expect((await run(server, ["show", TASK])).stdout).toStartWith("callback\tcb_1\n");
    const { exitCode, stderr } = await run(server, ["show", TASK]);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`${TASK} has no callback.`)]);
  });
});

describe("callbacks redeliver", () => {
  test("of many says what is sent already where the rest is refused", async () => {
    using server = startScriptedServer({
      "POST /v1/callbacks/redeliver": (_seen, times) =>
        times === 1
          ? success({ callbacks: [callback(9), callback(8)], next: "cb_8" })
          : refusal(401, "invalid_api_key", "Revoked."),
    });
    const { exitCode, stderr } = await run(server, ["redeliver", "--since", "1h"]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain("To be sent once more before this: 2, the newest first, the last one cb_8.");
  });

  test("asks for one more send of one", async () => {
    using server = startScriptedServer({
      "POST /v1/callbacks/cb_1/redeliver": () => success(callback(1, { redelivery_due: true })),
    });
    const { exitCode, stdout, stderr } = await run(server, ["redeliver", "cb_1"]);
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      "cb_1\n",
      expect.stringContaining("svc callbacks show cb_1"),
    ]);
  });

  test("asks for a range page by page, and prints how many", async () => {
    using server = startScriptedServer({
      "POST /v1/callbacks/redeliver": (_seen, times) =>
        success({
          callbacks: [callback(times, { redelivery_due: true })],
          next: times < 3 ? `cb_${times}` : null,
        }),
    });
    const range = ["--since", "2026-11-21", "--until", "2026-11-22", "--state", "failed"];
    const { stdout, stderr } = await run(server, ["redeliver", ...range]);
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(["cb_1", "cb_2", "cb_3", ""]);
    expect(stdout).toContain("redelivery now");
    expect(stderr).toBe("✓ To be sent once more: 3\n");
    const asked = { from: "2026-11-21T00:00:00.000Z", to: "2026-11-22T00:00:00.000Z", state: "failed" };
    expect(server.seen.map(({ body }) => body)).toEqual([
      asked,
      { ...asked, after: "cb_1" },
      { ...asked, after: "cb_2" },
    ]);
  });

  test("with --forward posts what they say from here, and asks the server to send nothing", async () => {
    using server = startScriptedServer({
      "GET /v1/callbacks": () => success({ callbacks: [callback(1), callback(2)], next: null }),
      "GET /v1/callbacks/cb_1": () => success(inFull(1)),
      "GET /v1/callbacks/cb_2": () => success(inFull(2)),
    });
    using receiver = openReceiver(204);
    const args = ["redeliver", "--since", "1h", "--forward", receiver.url];
    const { exitCode, stdout } = await run(server, [...args, "--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).callbacks).toEqual(
      [1, 2].map((number) => ({
        callback_id: `cb_${number}`,
        task_id: `task_${number}`,
        forward: { status: 204, duration_ms: expect.any(Number), error: null },
      })),
    );
    expect([...receiver.bodies].sort()).toEqual(
      [1, 2].map((number) => JSON.stringify(inFull(number).payload)),
    );
    expect(receiver.headers[0]?.get("content-type")).toBe("application/json");
    expect(receiver.headers[0]?.get("authorization")).toBeNull();
    expect(server.seen.every(({ method }) => method === "GET")).toBe(true);
  });

  test("with --forward fails when the receiver does not take it", async () => {
    using server = startScriptedServer({ "GET /v1/callbacks/cb_1": () => success(inFull(1)) });
    using receiver = openReceiver(500);
    const { exitCode, stdout, stderr } = await run(server, ["redeliver", "cb_1", "--forward", receiver.url]);
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(/^cb_1\ttask_1\t500 Internal Server Error \(\d+ ms\)\n$/),
    ]);
    expect(stderr).toContain("1 of 1 callback was not acknowledged.");
  });

  test.each([
    [[], "Say which"],
    [["cb_1", "--since", "1h"], "not both"],
    [["cb_1", "--state", "failed"], "not both"],
    [["--until", "1h"], "Say which"],
    [["cb_1", "--forward", "ftp://x"], "--forward must be"],
  ])("%j is a mistake of the command line", async (args, said) => {
    using server = startScriptedServer({});
    const { exitCode, stderr } = await run(server, ["redeliver", ...args]);
    expect([exitCode, stderr, server.seen]).toEqual([2, expect.stringContaining(said), []]);
  });
});

describe("callbacks trigger", () => {
  const sandbox = {
    ...MODEL,
    id: "sandbox-image",
    schema: { ...MODEL.schema, properties: { ...MODEL.schema.properties, sandbox: { type: "object" } } },
  };
  const ending = (status: string): Script => ({
    ...ACCEPTING,
    "GET /v1/models/sandbox-image": () => success(sandbox),
    "GET /v1/images/status/task_1": () => success({ task_id: "task_1", status }),
    "GET /v1/callbacks": (_seen, times) => success({ callbacks: times > 1 ? [callback(1)] : [], next: null }),
  });

  test.each(["completed", "failed"])("has a task end as %s, for whoever listens", async (outcome) => {
    using server = startScriptedServer(ending(outcome));
    const { exitCode, stdout, stderr } = await run(server, ["trigger", outcome]);
    expect([exitCode, stdout]).toEqual([0, "task_1\n"]);
    expect(stderr).toContain("`svc callbacks listen`");
    expect(server.at("/v1/images/generations")[0]?.body).toEqual({
      model: "sandbox-image",
      prompt: `svc callbacks trigger ${outcome}`,
      sandbox: { delay_ms: 0, outcome },
    });
    expect(server.at("/v1/callbacks")).toEqual([]);
  });

  test("with --url waits for the answer and shows it", async () => {
    const delivered = inFull(1, {
      state: "delivered",
      history: [send({ outcome: "delivered", status: 204 })],
    });
    using server = startScriptedServer({
      ...ending("completed"),
      "GET /v1/callbacks/cb_1": (_seen, times) =>
        success(times > 1 ? delivered : inFull(1, { state: "pending", history: [send({ outcome: null })] })),
    });
    const url = "https://hooks.example/svc?token=t1";
    const { exitCode, stdout } = await run(server, ["trigger", "completed", "--url", url]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("\tdelivered\t204\t")]);
    expect(server.at("/v1/images/generations")[0]?.body).toMatchObject({ callback_url: url });
  });

  test("with --url fails once the receiver refused, without the receiver's token in the message", async () => {
    using server = startScriptedServer({
      ...ending("completed"),
      "GET /v1/callbacks/cb_1": () => success(inFull(1, { state: "pending" })),
    });
    const args = ["trigger", "completed", "--url", "https://hooks.example/svc?token=t1"];
    const { exitCode, stderr } = await run(server, args);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("https://hooks.example/svc?… did not acknowledge: it answered 500.");
    expect(stderr).toContain("It is tried again. `svc callbacks show cb_1`");
    expect(stderr).not.toContain("token");
  });

  test("leads to listening when the server may not call the address", async () => {
    using server = startScriptedServer({
      ...ending("completed"),
      "POST /v1/images/generations": () =>
        refusal(400, "invalid_request", "callback_url must be public.", {}, "callback_url"),
    });
    const { exitCode, stderr } = await run(server, ["trigger", "completed", "--url", "http://127.0.0.1:1/"]);
    expect([exitCode, stderr]).toEqual([13, expect.stringContaining("svc callbacks listen --forward URL")]);
  });

  test("starts no task that a provider would charge for, and says when there is no sandbox", async () => {
    using server = startScriptedServer({
      ...ACCEPTING,
      "GET /v1/models/sandbox-image": () => refusal(404, "model_not_available", "No such model."),
    });
    const paid = await run(server, ["trigger", "completed", "--model", "image-1"]);
    expect([paid.exitCode, paid.stderr]).toEqual([
      2,
      expect.stringContaining("image-1 is no sandbox model."),
    ]);
    const none = await run(server, ["trigger", "completed"]);
    expect([none.exitCode, none.stderr]).toEqual([5, expect.stringContaining("There is no sandbox")]);
    expect(server.at("/v1/images/generations")).toEqual([]);
  });

  test("knows two outcomes", async () => {
    using server = startScriptedServer({});
    expect((await run(server, ["trigger", "cancelled"])).exitCode).toBe(2);
    expect((await run(server, ["trigger"])).exitCode).toBe(2);
  });
});
