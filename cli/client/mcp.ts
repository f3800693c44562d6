import { createParser } from "eventsource-parser";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { dataOf, parseBody, troubleOf } from "./answer.ts";
import type { ClientOptions } from "./exchange.ts";
import { answerLost, readRaw, sendRaw, streamRaw } from "./raw.ts";

/** A picture of some megabytes, and what is around it. */
const MAX_MESSAGE_SIZE = 128 * 1024 * 1024;

/**
 * Sends messages of the Model Context Protocol to a server's `/mcp`, and keeps what its first answer tells of the connection.
 * @returns a function that yields the server's messages, and throws a Failure where the request as a whole is refused or lost
 */
export function createMcpSender(settings: ClientSettings, options: ClientOptions) {
  const url = new URL(`${settings.server}/mcp`);
  let session: string | undefined;
  let version: string | undefined;

  return async function* send(message: JsonObject): AsyncGenerator<JsonObject> {
    const stateless = statelessHeaders(message);
    // A server that is told a session takes no lost connection for a cancellation, and waits for the notification.
    if (stateless !== undefined) session ??= crypto.randomUUID();
    const response = await post(message, stateless);
    const { status, headers } = response;
    if (status === 202) return;
    if (status !== 200) {
      const answer = parseBody(await readRaw(response, url));
      if (stateless !== undefined && isJsonObject(answer) && answer.id === message.id) return yield answer;
      throw troubleOf(response, standardOf(answer), settings.server).failure;
    }
    session = headers.get("mcp-session-id") ?? session;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    for await (const each of isStream ? eventsOf(response, url) : oneOf(response, url)) {
      if (message.method === "initialize" && isJsonObject(each.result))
        version = String(each.result.protocolVersion ?? "") || undefined;
      yield each;
    }
  };

  async function post(
    message: JsonObject,
    stateless: Readonly<Record<string, string>> | undefined,
  ): Promise<Response> {
    const headers = new Headers({
      Authorization: `Bearer ${settings.key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    });
    if (session !== undefined) headers.set("Mcp-Session-Id", session);
    if (version !== undefined) headers.set("MCP-Protocol-Version", version);
    for (const [name, value] of Object.entries(stateless ?? {})) headers.set(name, value);
    const sent = await sendRaw({ method: "POST", url, headers, body: JSON.stringify(message) }, options);
    if (sent.ok) return sent.value;
    // Unless nobody was there, the server may have the message.
    throw sent.retry === "yes" ? answerLost(sent.failure) : sent.failure;
  }
}

async function* oneOf(response: Response, url: URL): AsyncGenerator<JsonObject> {
  const message = parseBody(await readRaw(response, url));
  if (isJsonObject(message)) yield message;
}

async function* eventsOf(response: Response, url: URL): AsyncGenerator<JsonObject> {
  const found: JsonObject[] = [];
  const parser = createParser({
    maxBufferSize: MAX_MESSAGE_SIZE,
    onEvent({ data }) {
      const message = parseBody(data);
      if (isJsonObject(message)) found.push(message);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of streamRaw(response, url)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* found.splice(0);
  }
}

/**
 * What a request without a session says in headers too, from version 2026-07-28 of the protocol on; undefined for other messages
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http, checked 2026-11-29).
 */
function statelessHeaders({ id, method, params }: JsonObject): Readonly<Record<string, string>> | undefined {
  const { _meta, name } = isJsonObject(params) ? params : {};
  const version = isJsonObject(_meta) ? _meta["io.modelcontextprotocol/protocolVersion"] : undefined;
  if (id === undefined || typeof version !== "string" || typeof method !== "string") return undefined;
  return {
    "MCP-Protocol-Version": headerText(version),
    "Mcp-Method": headerText(method),
    ...(typeof name === "string" && { "Mcp-Name": headerText(name) }),
  };
}

/** A text as that protocol has it in a header. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e]+$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** An error of JSON-RPC in the form that this service's other errors have. */
function standardOf(answer: unknown): unknown {
  if (!isJsonObject(answer) || !isJsonObject(answer.error)) return answer;
  const { message, data } = answer.error;
  return { message, data: { error_code: isJsonObject(data) ? data.code : undefined } };
}

/** Stores a file on a server. @param file.isRepeatable whether it has the same id each time @returns its id there @throws Failure */
export async function uploadFile(
  settings: ClientSettings,
  options: ClientOptions,
  {
    name,
    bytes,
    isRepeatable,
  }: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer>; readonly isRepeatable: boolean },
): Promise<string> {
  const url = new URL(`${settings.server}/v1/files?name=${encodeURIComponent(name)}`);
  const headers = new Headers({
    Authorization: `Bearer ${settings.key}`,
    "Content-Type": "application/octet-stream",
  });
  // The id of a file follows from its content and this key.
  if (isRepeatable)
    headers.set(
      "Idempotency-Key",
      `mcp ${new Bun.CryptoHasher("sha256").update(`${name}\n`).update(bytes).digest("hex")}`,
    );
  const sent = await sendRaw({ method: "POST", url, headers, body: bytes }, options);
  if (!sent.ok) throw sent.failure;
  const answer = parseBody(await readRaw(sent.value, url));
  if (sent.value.status !== 200) throw troubleOf(sent.value, answer, settings.server).failure;
  return String(dataOf(sent.value, answer, settings.server).id);
}
