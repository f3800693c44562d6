import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type JsonObject } from "../../../../src/domain/json.ts";
import type { PublishedService } from "../../openapi-service.ts";

/** An agent: the official client, connected. */
export interface Agent {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Calls a tool. @param options as the client has them */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<Called>;
  stop(): Promise<void>;
}

export type CallOptions = Parameters<Client["callTool"]>[2];

export interface Called {
  readonly content: CallToolResult["content"];
  readonly structured: JsonObject;
  readonly isError: boolean;
  /** The refusal that its text tells of. */
  readonly error: JsonObject;
}

export async function connectAgent(service: Pick<PublishedService, "url">, key: string): Promise<Agent> {
  const client = new Client({ name: "tests", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  // Of optional properties, the kit's types do not say that they may be undefined.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    client,
    transport,
    async call(name, args, options) {
      const result = await client.callTool({ name, arguments: args }, undefined, options);
      return calledOf(result as CallToolResult);
    },
    stop: () => client.close(),
  };
}

export function calledOf({ content, structuredContent, isError = false }: CallToolResult): Called {
  const text = content.find((each) => each.type === "text")?.text ?? "{}";
  const told: unknown = JSON.parse(text);
  const error = isJsonObject(told) && isJsonObject(told.error) ? told.error : {};
  return { content, structured: (structuredContent ?? {}) as JsonObject, isError, error };
}

/** Asks for something below /v1 or /admin/v1. */
export async function ask(
  { url }: Pick<PublishedService, "url">,
  credential: string,
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  const response = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return ((await response.json()) as { readonly data: JsonObject }).data;
}

/** Makes a key. @returns its secret */
export async function makeKey(service: PublishedService, terms: JsonObject): Promise<string> {
  const made = await ask(service, service.token, "/admin/v1/keys", terms);
  if (typeof made.key !== "string") throw new Error(`No key: ${JSON.stringify(made)}`);
  return made.key;
}
