import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../../src/domain/json.ts";
import { type CheckAnswer, createAnswerCheck } from "../../../helpers/openapi.ts";
import { type PublishedService, startPublished } from "../../openapi-service.ts";
import { ask } from "./agent.ts";

// It waits for tasks.
setDefaultTimeout(30_000);

let service: PublishedService;
let checkAnswer: CheckAnswer;

beforeAll(async () => {
  service = await startPublished();
  checkAnswer = createAnswerCheck(service.document);
});

afterAll(() => service.stop());

const VERSION = "2026-07-28";
const SMALL = { model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } };

interface Message {
  readonly method?: string;
  readonly params?: JsonObject;
  /** Members of `_meta` that differ from what the protocol asks for; null leaves one out. */
  readonly meta?: Readonly<Record<string, Json>>;
  /** The same for headers. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly signal?: AbortSignal;
}

/** A request as clients of this version send it. */
function send({ method = "tools/list", params = {}, meta = {}, headers = {}, signal }: Message) {
  const _meta = { protocolVersion: VERSION, clientCapabilities: {}, ...meta };
  const given = Object.entries(_meta).filter(([, value]) => value !== null);
  const named = given.map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]);
  const all: Record<string, string | null> = {
    ...{ Accept: "application/json, text/event-stream", "Content-Type": "application/json" },
    ...{ Authorization: `Bearer ${service.key}`, "MCP-Protocol-Version": VERSION, "Mcp-Method": method },
    ...(typeof params.name === "string" && { "Mcp-Name": params.name }),
    ...headers,
  };
  return fetch(`${service.url}/mcp`, {
    method: "POST",
    headers: Object.fromEntries(
      Object.entries(all).filter((each): each is [string, string] => each[1] !== null),
    ),
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: Object.fromEntries(named) },
    }),
    ...(signal !== undefined && { signal }),
  });
}

/** Its answer, checked by the service's own document. */
async function answerTo(message: Message): Promise<{ status: number; body: JsonObject }> {
  const response = await send(message);
  const text = await response.text();
  checkAnswer("POST", "/mcp", response.status, response.headers, text);
  const body: unknown = JSON.parse(/^data: (.*"result".*)$/m.exec(text)?.[1] ?? text);
  return { status: response.status, body: isJsonObject(body) ? body : {} };
}

const call = (args: JsonObject) => ({
  method: "tools/call",
  params: { name: "generate_image", arguments: args },
});

test("a request tells by itself what a session told before", async () => {
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "svc", version: expect.any(String) } };
  const told = { resultType: "complete", _meta };
  const discovered = await answerTo({ method: "server/discover" });
  expect(discovered.body).toEqual({
    ...{ jsonrpc: "2.0", id: 1 },
    result: {
      ...{ supportedVersions: [VERSION], capabilities: { tools: {} }, instructions: expect.any(String) },
      ...{ ttlMs: 0, cacheScope: "private", ...told },
    },
  });
  const listed = await answerTo({});
  expect(listed.body.result).toMatchObject({ ...told, ttlMs: 0, cacheScope: "private" });
  for (const wait of [0, 20])
    expect((await answerTo(call({ ...SMALL, wait }))).body.result).toMatchObject({
      ...{ ...told, structuredContent: { model: "sandbox-image" } },
    });
  const refused = await answerTo(call({ ...SMALL, n: 99 }));
  expect(refused.body.result).toMatchObject({ ...told, isError: true });
});

test("a request that contradicts itself, or is none of this version, is refused with its own code", async () => {
  const supported = { supported: [VERSION] };
  const refused: readonly [Message, status: number, code: number, data?: JsonObject][] = [
    [{ meta: { protocolVersion: "2999-01-01" } }, 400, -32020],
    [{ headers: { "MCP-Protocol-Version": null } }, 400, -32020],
    [
      { meta: { protocolVersion: "2999-01-01" }, headers: { "MCP-Protocol-Version": "2999-01-01" } },
      ...([400, -32022] as const),
      { ...supported, requested: "2999-01-01" },
    ],
    [
      { meta: { protocolVersion: null }, headers: { "MCP-Protocol-Version": "2999-01-01" } },
      400,
      -32022,
      supported,
    ],
    [{ meta: { protocolVersion: null } }, 400, -32602],
    [{ meta: { clientCapabilities: null } }, 400, -32602],
    [{ headers: { "Mcp-Method": null } }, 400, -32020],
    [{ headers: { "Mcp-Method": "tools/call" } }, 400, -32020],
    [{ ...call(SMALL), headers: { "Mcp-Name": null } }, 400, -32020],
    [{ ...call(SMALL), headers: { "Mcp-Name": "edit_image" } }, 400, -32020],
    [{ method: "ping" }, 404, -32601],
    [{ method: "initialize" }, 404, -32601],
    [{ method: "resources/list" }, 404, -32601],
  ];
  for (const [message, status, code, data = {}] of refused) {
    const answer = await answerTo(message);
    expect([message, answer.status, answer.body]).toMatchObject([
      message,
      status,
      { jsonrpc: "2.0", id: 1, error: { code, data: { code: "invalid_request", ...data } } },
    ]);
  }
  const encoded = `=?base64?${Buffer.from("generate_image").toString("base64")}?=`;
  expect((await answerTo({ ...call(SMALL), headers: { "Mcp-Name": encoded } })).status).toBe(200);
  const unknown = await answerTo({ method: "tools/call", params: { name: "sudo" } });
  expect(unknown).toMatchObject({ status: 200, body: { error: { code: -32602 } } });
});

test("a client cancels by hanging up, unless it may come again or has named a session", async () => {
  const lasting = { ...SMALL, sandbox: { delay_ms: 700 } };
  const newest = async () => {
    const [task] = (await ask(service, service.key, "/v1/tasks?limit=1")).tasks as JsonObject[];
    return String(task?.task_id);
  };
  const hungUp = async (message: Message) => {
    const before = await newest();
    const controller = new AbortController();
    const sent = send({ ...message, signal: controller.signal });
    sent.catch(() => {});
    while ((await newest()) === before) await Bun.sleep(10);
    controller.abort();
    await expect(sent).rejects.toThrow();
    return (await ask(service, service.key, `/v1/images/status/${await newest()}?wait=20`)).status;
  };
  expect(await hungUp(call({ ...lasting, sandbox: { outcome: "hang" } }))).toBe("cancelled");
  expect(await hungUp(call({ ...lasting, idempotency_key: "again" }))).toBe("completed");
  const named = { ...call(lasting), headers: { "Mcp-Session-Id": "of-a-relay" } };
  expect(await hungUp(named)).toBe("completed");
});
