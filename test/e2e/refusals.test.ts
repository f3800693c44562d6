import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { formatCredential } from "../../src/domain/access/credential.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi, type Sent } from "./support/api.ts";
import { type StoredState, stateOf } from "./support/database.ts";
import { type RefusedCreate, refusedCreates } from "./support/refused-creates.ts";

setDefaultTimeout(120_000);

const server: Server = await startServer();
const api: Api = createApi(server.url, server.firstKey());
const creates = await refusedCreates(server.url);
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

let before: StoredState;

beforeAll(() => {
  before = stateOf(server.dataDir);
});

afterAll(stopServers);

/** What every refusal has, in the standard envelope. */
function expectProblem(
  answer: Answer,
  expected: { status: number; code: string; param?: string | undefined },
) {
  const { status, code, param } = expected;
  expect({ status: answer.status, ...answer.body }).toEqual({
    status,
    code: status,
    message: expect.any(String),
    data: {
      type: expect.any(String),
      error_code: code,
      ...(param === undefined ? {} : { param: expect.any(String) }),
    },
  });
  if (param !== undefined) expect(answer.data.param).toBe(param);
  expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect((answer.body.message ?? "").length).toBeLessThan(600);
  expect(answer.text).not.toMatch(/\/(?:work|home|root|tmp|src|bunfs)\/|\.ts:|\bat \w+ \(|SQLITE/);
}

describe("a create is refused, and says why:", () => {
  test.each(creates.map((each): [string, RefusedCreate] => [each.name, each]))("%s", async (_, refused) => {
    const { body, path = "images", headers, status = 400, code = "invalid_request", param, says } = refused;
    const sent: Sent = { body, ...(headers === undefined ? {} : { headers }) };
    const answer = await api.send(`/v1/${path}/generations`, sent);
    expect(answer.status).toBe(status);
    if (param === undefined) expect(answer.data.error_code).toBe(code);
    else expectProblem(answer, { status, code, param });
    if (param !== undefined) expect(answer.body.message).toContain(param.replace(/\[.*|.*\./, ""));
    if (typeof says === "string") expect(answer.body.message).toContain(says);
    else if (says !== undefined) expect(answer.body.message).toMatch(says);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
  });

  test("a body above 32 MB", async () => {
    const answer = await api.send("/v1/images/generations", {
      body: `{"prompt":"${"x".repeat(32_000_000)}"}`,
    });
    expectProblem(answer, { status: 413, code: "request_too_large" });
  });

  test("and nothing of all that was kept", () => {
    expect(before).toEqual({ tasks: 0, assets: 0, ledger: 0, keys: 0, balance: 0, held: 0 });
    expect(stateOf(server.dataDir)).toEqual(before);
  });

  test.each(["x".repeat(256), "käse", "tab\there", ""])(
    "an idempotency key that is none: %j",
    async (key) => {
      const answer = await api.create(IMAGE, { "Idempotency-Key": key });
      expectProblem(answer, { status: 400, code: "invalid_idempotency_key" });
    },
  );
});

describe("a path", () => {
  test.each<[string, string, number, string, string | null]>([
    ["GET", "/v1/images/generations", 405, "method_not_allowed", "POST"],
    ["DELETE", "/v1/videos/generations", 405, "method_not_allowed", "POST"],
    ["POST", "/v1/images/status/task_1", 405, "method_not_allowed", "GET, HEAD"],
    ["PUT", "/readyz", 405, "method_not_allowed", "GET, HEAD"],
    ["POST", "/", 405, "method_not_allowed", "GET, HEAD"],
    ["GET", "/v1", 404, "not_found", null],
    ["GET", "/v1/images/status", 404, "not_found", null],
    ["GET", "/v1/images/generations/", 405, "method_not_allowed", "POST"],
    ["GET", "/v1/images/status/nonsense", 404, "task_not_found", null],
    ["GET", "/v1/images/status/task_01jd0000000000000000000000", 404, "task_not_found", null],
    ["GET", "/v1/videos/status/%00", 404, "task_not_found", null],
    ["POST", "/v1/tasks/task_01jd0000000000000000000000/cancel", 404, "task_not_found", null],
  ])("%s %s answers %d %s", async (method, path, status, code, allow) => {
    const answer = await api.send(path, { method });
    expectProblem(answer, { status, code });
    expect(answer.headers.get("allow")).toBe(allow);
  });

  test("of a model that is not there answers 404 model_not_available", async () => {
    const answer = await api.send("/v1/models/nothing");
    expectProblem(answer, { status: 404, code: "model_not_available", param: "model" });
  });

  test("of a task is one of its own kind alone", async () => {
    const { task_id } = await api.make(IMAGE);
    expect((await api.send(`/v1/videos/status/${task_id}`)).data.error_code).toBe("task_not_found");
  });

  test.each([
    ["/v1/tasks?limit=0", "limit"],
    ["/v1/tasks?limit=101", "limit"],
    ["/v1/tasks?status=done", "status"],
    ["/v1/tasks?kind=audio", "kind"],
    ["/v1/tasks?after=x", "after"],
    ["/v1/images/status/task_01jd0000000000000000000000?wait=6e1", "wait"],
    ["/v1/images/status/task_01jd0000000000000000000000?wait=-1", "wait"],
    ["/v1/images/status/task_01jd0000000000000000000000?wait=soon", "wait"],
  ])("%s is refused for its %s", async (path, param) => {
    expectProblem(await api.send(path), { status: 400, code: "invalid_request", param });
  });
});

describe("a request without an eligible key", () => {
  const unknown = formatCredential("api_key", "0".repeat(32));
  test.each<[string, Record<string, string>]>([
    ["no key", { Authorization: "" }],
    ["another scheme", { Authorization: "Basic dXNlcjpwYXNz" }],
    ["a key that is none", { Authorization: "Bearer sk-something-else" }],
    ["a mistyped key", { Authorization: `Bearer ${unknown.slice(0, -1)}x` }],
    ["an unknown key", { Authorization: `Bearer ${unknown}` }],
    [
      "a management token",
      { Authorization: `Bearer ${formatCredential("management_token", "0".repeat(32))}` },
    ],
  ])("gets 401 in the compatible envelope: %s", async (_, headers) => {
    for (const path of ["/v1/models", "/v1/images/status/task_1", "/v1/tasks"]) {
      const answer = await api.send(path, { headers });
      expect({ status: answer.status, ...answer.body }).toEqual({
        status: 401,
        error: { message: expect.any(String), type: "authentication_error", code: "invalid_api_key" },
      });
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    }
    expect((await api.create(IMAGE, headers)).status).toBe(401);
  });

  test.each<[string, Record<string, string>, string]>([
    ["x-api-key", { "x-api-key": api.key }, ""],
    ["a vendor's header", { "x-goog-api-key": api.key }, ""],
    ["the query", {}, `?key=${api.key}`],
  ])("may send it in %s", async (_, headers, query) => {
    const response = await fetch(`${server.url}/v1/models${query}`, { headers, keepalive: false });
    expect(response.status).toBe(200);
  });

  test("is judged by the first credential alone", async () => {
    const answer = await api.send("/v1/models", {
      headers: { Authorization: `Bearer ${unknown}`, "x-api-key": api.key },
    });
    expect(answer.status).toBe(401);
  });
});

test("a caller's own request id comes back when it is well-formed, and is replaced otherwise", async () => {
  const idOf = async (id: string) =>
    (await api.send("/v1/models", { headers: { "X-Request-ID": id } })).headers.get("x-request-id");
  expect(await idOf("order-17.b_2")).toBe("order-17.b_2");
  expect(await idOf("x".repeat(129))).toMatch(/^req_/);
  expect(await idOf("two words")).toMatch(/^req_/);
});

test.each(["[", "a b", "evil.example/x", ""])(
  "a Host header %j gets a clear answer and no stack",
  async (host) => {
    const ask = async (path: string) => {
      const answer = Promise.withResolvers<string>();
      let text = "";
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(server.url).port),
        socket: {
          data(_, chunk) {
            text += chunk.toString("latin1");
          },
          close: () => answer.resolve(text),
        },
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return answer.promise;
    };
    expect(await ask("/healthz")).toMatch(/^HTTP\/1\.1 200 .*x-request-id: req_/is);
    expect(await ask("/v1/nothing")).toMatch(/^HTTP\/1\.1 404 .*"error_code":"not_found"/is);
    expect(await ask("/v1/models")).toMatch(/^HTTP\/1\.1 401 .*"code":"invalid_api_key"/is);
    expect(server.stdout() + server.stderr()).not.toContain("    at ");
  },
);

test("HEAD tells the length that GET has", async () => {
  const lengthOf = async (method: string) =>
    (await api.send("/v1/models", { method })).headers.get("content-length");
  expect(Number(await lengthOf("GET"))).toBeGreaterThan(1_000);
  expect(await lengthOf("HEAD")).toBe(await lengthOf("GET"));
});

test("a key sent in the path is in no answer and no log line", async () => {
  const answer = await api.send(`/v1/models%3Fkey=${api.key}`);
  expect(answer.status).toBe(404);
  expect(JSON.stringify(answer.body)).not.toContain(api.key);
});

test("no credential reaches the log", () => {
  expect(server.stdout() + server.stderr()).not.toContain(api.key);
});
