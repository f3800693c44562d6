import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, rpcError } from "./manners.ts";

/*
 * The version of the protocol that has no sessions: each request tells in `_meta` and in headers what `initialize` told before
 * (https://modelcontextprotocol.io/specification/2026-07-28, checked 2026-11-29). The kit knows the versions before it.
 */
const STATELESS = "2026-07-28";

const META = "io.modelcontextprotocol/";
const VERSION_HEADER = "MCP-Protocol-Version";
const METHODS: readonly Json[] = ["server/discover", "tools/list", "tools/call"];
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

interface Refusal {
  readonly status: 400 | 404;
  readonly error: JsonObject;
}

/** Whether a message is one without a session, or its headers say so. */
export function isStateless({ headers }: Pick<Request, "headers">, message: Json): boolean {
  return versionOf(message) !== undefined || (headers.get(VERSION_HEADER) ?? "") >= STATELESS;
}

const paramsOf = (message: Json): JsonObject =>
  isJsonObject(message) && isJsonObject(message.params) ? message.params : {};

function metaOf(message: Json, name: string): Json | undefined {
  const { _meta } = paramsOf(message);
  return isJsonObject(_meta) ? _meta[META + name] : undefined;
}

const versionOf = (message: Json) => metaOf(message, "protocolVersion");

/** Why a message without a session is not answered; undefined if it is. Notifications tell nothing in headers. */
export function statelessRefusal({ headers }: Pick<Request, "headers">, message: Json): Refusal | undefined {
  if (!isJsonObject(message) || message.id === undefined) return undefined;
  const { id, method = null } = message;
  const refuse = (code: number, text: string, data?: JsonObject): Refusal => ({
    status: code === METHOD_NOT_FOUND ? 404 : 400,
    error: {
      ...rpcError(code, text, data),
      id: typeof id === "string" || typeof id === "number" ? id : null,
    },
  });
  const version = headers.get(VERSION_HEADER);
  const told = versionOf(message);
  const requested = told ?? version;
  if (told !== undefined && told !== version)
    return refuse(HEADER_MISMATCH, differs(VERSION_HEADER, `${META}protocolVersion`));
  if (requested !== STATELESS)
    return refuse(
      UNSUPPORTED_VERSION,
      `Version ${String(requested).slice(0, 80)} of the protocol is not spoken. ${STATELESS} is, and 2025-11-25 and earlier are, which begin with initialize.`,
      { supported: [STATELESS], requested },
    );
  for (const name of ["protocolVersion", "clientCapabilities"])
    if (metaOf(message, name) === undefined)
      return refuse(INVALID_PARAMS, `params._meta has no ${META}${name}.`);
  if (typeof method !== "string") return refuse(INVALID_REQUEST, "A message has a method.");
  if (headers.get("Mcp-Method") !== method) return refuse(HEADER_MISMATCH, differs("Mcp-Method", "method"));
  if (!METHODS.includes(method)) return refuse(METHOD_NOT_FOUND, "Method not found");
  const { name } = paramsOf(message);
  if (method === "tools/call" && typeof name === "string" && decoded(headers.get("Mcp-Name")) !== name)
    return refuse(HEADER_MISMATCH, differs("Mcp-Name", "params.name"));
  return undefined;
}

const differs = (header: string, member: string) =>
  `The header ${header} is not what ${member} of the body is.`;

/** A header as its client meant it. What cannot stand in a header is encoded. */
function decoded(header: string | null): string | null {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(header ?? "") ?? [];
  return base64 === undefined ? header : Buffer.from(base64, "base64").toString();
}

/** A request in the form of the versions that the kit knows. Its body was read. */
export function asEarlier({ url, method, headers: given }: Request): Request {
  const headers = new Headers(given);
  headers.delete(VERSION_HEADER);
  return new Request(url, { method, headers });
}

/** What is answered to `server/discover`, which stands in for `initialize`. */
export function discovery(instructions: string) {
  return { supportedVersions: [STATELESS], capabilities: { tools: {} }, instructions };
}

/** A result in the form of this version. @param version of this service */
export function complete<T extends object>(result: T, version: string) {
  return { ...result, resultType: "complete", _meta: { [`${META}serverInfo`]: { name: "svc", version } } };
}

/** For results that depend on the key and on what the operator has set at the moment. */
export const NOT_KEPT = { ttlMs: 0, cacheScope: "private" } as const;

/** Aborts when the client closes the connection, which is how it cancels a request. A service that stops closes it itself. */
export function hangUp({ signal }: Pick<Request, "signal">, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    if (!stopping.aborted) controller.abort();
  };
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return controller.signal;
}
