import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../helpers/free-port.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";
import { stateOf } from "./support/database.ts";

setDefaultTimeout(120_000);

const EDGE_SEC = 1;
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const BODY = JSON.stringify(IMAGE);

let server: Server;
/** By the default address, and by the one for requests that take long. */
let api: Api;
let long: Api;

beforeAll(async () => {
  const longPort = freePort();
  server = await startServer({
    args: ["--long-port", String(longPort), "--edge-timeout-seconds", String(EDGE_SEC)],
  });
  api = createApi(server.url, server.firstKey());
  long = createApi(`http://127.0.0.1:${longPort}`, api.key);
});

afterAll(stopServers);

/** A create whose body stops half way; the rest follows when it is told to, and the answer is all that came until the end. */
async function slowCreate(to: Api, path = "/v1/images/generations") {
  const answer = Promise.withResolvers<string>();
  const answered = Promise.withResolvers<void>();
  let text = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(to.url).port),
    socket: {
      data(_, chunk) {
        text += chunk.toString();
        answered.resolve();
      },
      close: () => answer.resolve(text),
    },
  });
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${to.key}`,
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    "X-Request-ID: slow-1",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${BODY.slice(0, 10)}`);
  return {
    answer: answer.promise,
    async finish() {
      socket.write(BODY.slice(10));
      await answered.promise;
      socket.end();
      return answer.promise;
    },
  };
}

describe("a request still open at the limit", () => {
  test("of the default address gets 504 with its request id, a line in the log, and leaves nothing", async () => {
    const before = stateOf(server.dataDir);
    const startedAt = performance.now();
    const text = await (await slowCreate(api)).answer;
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(EDGE_SEC * 1_000);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    expect(head).toStartWith("HTTP/1.1 504 ");
    expect(head.toLowerCase()).toContain("x-request-id: slow-1");
    expect(JSON.parse(body)).toEqual({
      code: 504,
      message: expect.stringContaining("1 seconds"),
      data: { type: "server_error", error_code: "upstream_timeout" },
    });
    const line = await server.says(/"request_id":"slow-1".*"status":504/);
    expect(JSON.parse(line)).toMatchObject({ level: "warn", error_code: "upstream_timeout" });
    expect(stateOf(server.dataDir)).toEqual(before);
  });

  test("is told so in the compatible envelope where that is spoken", async () => {
    const text = await (await slowCreate(api, "/compat/v1/images/generations")).answer;
    expect(JSON.parse(text.split("\r\n\r\n")[1] ?? "")).toEqual({
      error: { message: expect.any(String), type: "server_error", code: "upstream_timeout" },
    });
  });

  test("of the long address goes on, with the same key and the same paths", async () => {
    const slow = await slowCreate(long);
    // Begun later, and cut in the meantime.
    expect(await (await slowCreate(api)).answer).toStartWith("HTTP/1.1 504 ");
    const text = await slow.finish();
    expect(text).toStartWith("HTTP/1.1 200 ");
    const { task_id: id } = JSON.parse(text.split("\r\n\r\n")[1] ?? "").data;
    // The default address would answer before a task that takes longer than its limit has ended.
    expect((await long.wait(id)).status).toBe("completed");
    expect((await api.wait(id)).status).toBe("completed");
  });

  test("that waits for a task is answered with what is, before the limit", async () => {
    const id = await api.accept({ ...IMAGE, sandbox: { outcome: "hang" } });
    expect((await api.wait(id, "image", 30)).status).toBe("processing");
    const startedAt = performance.now();
    expect((await long.wait(id, "image", EDGE_SEC + 0.5)).status).toBe("processing");
    expect(performance.now() - startedAt).toBeGreaterThan(EDGE_SEC * 1_000 + 400);
  });
});

describe("the default address", () => {
  test("may be off beside a long one, which then has no limit to it", async () => {
    const port = freePort();
    const args = ["--port", "off", "--long-port", String(port), "--edge-timeout-seconds", String(EDGE_SEC)];
    const only = await startServer({ port, args });
    const client = createApi(only.url, only.firstKey());
    expect(JSON.parse(await only.says(/"msg":"ready"/))).toMatchObject({ url: only.url });
    const slow = await slowCreate(client);
    expect(await (await slowCreate(api)).answer).toStartWith("HTTP/1.1 504 ");
    expect(await slow.finish()).toStartWith("HTTP/1.1 200 ");
    expect(await only.stop()).toBe(0);
  });

  test("cannot be off when there is no other", async () => {
    const { exitCode, stderr } = await svc(["serve", "--port", "off"]);
    expect(exitCode).toBe(12);
    expect(stderr).toContain("port, long_port: are both off");
  });
});
