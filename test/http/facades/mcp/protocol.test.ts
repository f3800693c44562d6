import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../../src/domain/json.ts";
import { type CheckAnswer, createAnswerCheck } from "../../../helpers/openapi.ts";
import { type PublishedService, startPublished } from "../../openapi-service.ts";

// It waits for tasks.
setDefaultTimeout(30_000);

let service: PublishedService;
let checkAnswer: CheckAnswer;

beforeAll(async () => {
  service = await startPublished({ SVC_CORS_ORIGINS: "https://agent.example" });
  checkAnswer = createAnswerCheck(service.document);
});

afterAll(() => service.stop());

const ACCEPT = { Accept: "application/json, text/event-stream" };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const SMALL = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

/** Posts to /mcp as no official client would, and checks the answer by the service's own document. */
async function post(
  body: Json | string,
  { headers = {}, key = service.key }: { headers?: Readonly<Record<string, string>>; key?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${service.url}/mcp`, {
    method: "POST",
    headers: { ...ACCEPT, "Content-Type": "application/json", Authorization: `Bearer ${key}`, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  checkAnswer("POST", "/mcp", response.status, response.headers, text);
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as Json) : null,
  };
}

const errorOf = ({ body }: Answer): JsonObject =>
  isJsonObject(body) && isJsonObject(body.error) ? body.error : {};

test("a request without a valid key, or from a page of another origin, is refused before it is read", async () => {
  const unknown = await post(PING, { key: "sk-svc-none" });
  expect([unknown.status, errorOf(unknown)]).toEqual([
    401,
    { code: -32000, message: expect.any(String), data: { code: "invalid_api_key" } },
  ]);
  expect(unknown.headers.get("www-authenticate")).toBe("Bearer");
  const foreign = await post(PING, { headers: { Origin: "https://evil.example" } });
  expect([foreign.status, errorOf(foreign).data]).toEqual([403, { code: "permission_denied" }]);
  const rebound = await post(PING, { headers: { Origin: "http://evil.example", Host: "evil.example.org" } });
  expect(rebound.status).toBe(403);
  for (const Origin of ["https://agent.example", service.url])
    expect((await post(PING, { headers: { Origin } })).status).toBe(200);
});

test("there is no session to end and no stream to open", async () => {
  for (const method of ["GET", "DELETE", "PUT"]) {
    const response = await fetch(`${service.url}/mcp`, {
      method,
      headers: { ...ACCEPT, Authorization: `Bearer ${service.key}` },
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
  }
});

test("the version of the protocol is agreed at the start, and an unknown one is refused afterwards", async () => {
  const begin = (protocolVersion: string) =>
    post({
      ...{ jsonrpc: "2.0", id: 0, method: "initialize" },
      params: { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } },
    });
  for (const [asked, agreed] of [
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2024-11-05", "2024-11-05"],
    ["2999-01-01", "2025-11-25"],
  ] as const) {
    const { body, headers } = await begin(asked);
    expect(body).toMatchObject({ result: { protocolVersion: agreed, serverInfo: { name: "svc" } } });
    expect(headers.get("mcp-session-id")).toMatch(/^[\x21-\x7e]+$/);
  }
  const headers = { "MCP-Protocol-Version": "2999-01-01" };
  const refused = await post(PING, { headers });
  expect([refused.status, errorOf(refused).message]).toEqual([400, expect.stringContaining("2025-11-25")]);
  // Nobody has to remember a session, or have one.
  expect((await post(PING, { headers: { "Mcp-Session-Id": "of-another-process" } })).status).toBe(200);
});

test("a client that leaves out what it can and what it is called is answered; one that names no version is told so", async () => {
  const begin = (params: JsonObject) => post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const protocolVersion = "2025-06-18";
  for (const params of [{ protocolVersion }, { protocolVersion, clientInfo: { name: "t", version: "1" } }])
    expect((await begin(params)).body).toMatchObject({
      result: { protocolVersion, capabilities: { tools: {} } },
    });
  const wrong = [
    [{ capabilities: {} }, "params.protocolVersion"],
    [{ protocolVersion, capabilities: [] }, "params.capabilities"],
    [{ protocolVersion, clientInfo: { name: "t" } }, "params.clientInfo.version"],
  ] as const;
  for (const [params, path] of wrong) {
    const answer = await begin(params);
    const { code, message } = errorOf(answer);
    expect([answer.status, code, message]).toEqual([200, -32602, expect.stringContaining(path)]);
  }
});

test("batches are answered as a list up to the version that has them", async () => {
  const create = { name: "generate_image", arguments: { ...SMALL, wait: 0 } };
  const batch = [
    PING,
    { ...PING, id: "two" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 3, method: "tools/call", params: create },
    { jsonrpc: "2.0", id: 4, method: "tools/call", params: create },
  ];
  const { body } = await post(batch, { headers: { "MCP-Protocol-Version": "2025-03-26" } });
  expect((body as JsonObject[]).map(({ id }) => id).sort()).toEqual([1, 3, 4, "two"]);
  const waiting = [3, 4].map((id) => ({
    ...{ jsonrpc: "2.0", id, method: "tools/call" },
    params: { name: "generate_image", arguments: SMALL },
  }));
  const { text } = await post(waiting);
  expect(text.match(/"status":"completed"/g)).toHaveLength(2);
  const later = await post(batch, { headers: { "MCP-Protocol-Version": "2025-06-18" } });
  expect([later.status, errorOf(later).code]).toEqual([400, -32600]);
  expect((await post([])).status).toBe(400);
});

test("what is no message is a fault of the protocol, and what a tool refuses is none", async () => {
  const faults = [
    ["{", 400, -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}', 400, -32000],
    ["7", 400, -32700],
    [{ method: "ping" }, 400, -32700],
    [{ jsonrpc: "2.0", id: 1, method: "tools/destroy" }, 200, -32601],
    [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "sudo", arguments: {} } }, 200, -32602],
    [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_task", arguments: [1] } },
      200,
      -32602,
    ],
    [{ jsonrpc: "2.0", id: 1, method: "tools/call", params: {} }, 200, -32602],
  ] as const;
  for (const [body, status, code] of faults) {
    const answer = await post(body as Json);
    expect([body, answer.status, errorOf(answer).code]).toEqual([body, status, code]);
  }
  const args = { name: "get_task", arguments: { task_id: 7 } };
  const { body } = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: args });
  expect(body).toMatchObject({ result: { isError: true } });
});

test("headers that the protocol asks for are asked for, and a body of another type is refused", async () => {
  expect((await post(PING, { headers: { Accept: "application/json" } })).status).toBe(406);
  expect((await post(PING, { headers: { "Content-Type": "text/plain" } })).status).toBe(415);
  const large = await post({ ...PING, params: { text: "x".repeat(1_100_000) } });
  expect([large.status, errorOf(large).data]).toEqual([413, { code: "request_too_large" }]);
});

test("a create is told in the headers and in the log's terms, whether its answer streams or not", async () => {
  for (const wait of [0, 20]) {
    const { headers } = await post({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "generate_image", arguments: { ...SMALL, wait } },
    });
    const type = wait === 0 ? "application/json" : "text/event-stream";
    expect([headers.get("x-request-cost"), headers.get("content-type")]).toEqual(["0.010000", type]);
  }
});

test("a cancellation that does not say whose it is cancels nothing", async () => {
  const lasting = { ...SMALL, sandbox: { delay_ms: 600 } };
  const call = {
    jsonrpc: "2.0",
    id: 9,
    method: "tools/call",
    params: { name: "generate_image", arguments: lasting },
  };
  const made = post(call);
  await Bun.sleep(100);
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } };
  expect((await post(cancel)).status).toBe(202);
  expect((await post(cancel, { headers: { "Mcp-Session-Id": "another" } })).status).toBe(202);
  expect((await made).text).toContain('"status":"completed"');
});
