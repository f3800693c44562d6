import { AppError } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import type { Ids, Log } from "../../../domain/ports/runtime.ts";
import { readAnyJsonBody } from "../../body.ts";
import { type Endpoint, type KeyedExchange, keyed } from "../../exchange.ts";
import { toAppError } from "../../problem.ts";
import type { JsonBody } from "../../read-json.ts";
import type { Reply, ReplyLog } from "../../reply.ts";
import { type Cancellations, createCancellations } from "./cancellations.ts";
import type { McpDeps } from "./deps.ts";
import type { KitCall } from "./kit.ts";
import { INVALID_REQUEST, rpcError } from "./manners.ts";
import { hangUp, isStateless } from "./stateless.ts";
import type { ToolCall, ToolResult } from "./tool.ts";
import { refusalResult, TOOLS } from "./tools.ts";
import { ANSWER_MCP } from "./wire.ts";

export interface McpFacadeDeps extends McpDeps {
  readonly ids: Ids;
  readonly log: Log;
  readonly version: string;
  /** The pages of other origins that may call. They may change. */
  readonly cors: { readonly origins: readonly string[] };
}

interface Deps extends McpFacadeDeps {
  readonly cancellations: Cancellations;
}

/** The Model Context Protocol over streamable HTTP (docs/mcp.md). */
export function mcpEndpoints(given: McpFacadeDeps): Endpoint[] {
  const deps = { ...given, cancellations: createCancellations() };
  return [keyed("POST", "/mcp", ANSWER_MCP, {}, (exchange) => answer(deps, exchange))];
}

const SESSION = "Mcp-Session-Id";
const SESSION_FORM = /^[\x21-\x7e]{1,128}$/;
/** From this version of the protocol on, a body is one message. Versions are dates. */
const WITHOUT_BATCHES = "2025-06-18";

async function answer(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  requireKnownOrigin(deps, exchange);
  const json = await readAnyJsonBody(exchange, deps.assets);
  const calls = new Calls();
  try {
    const refused = batchRefusal(exchange.request, json.body);
    if (refused !== undefined) return refused;
    cancelThose(deps, exchange, json.body);
    const { answerMessages } = await import("./kit.ts");
    const response = await answerMessages({
      request: exchange.request,
      version: deps.version,
      messages: json.body,
      isStream: messagesOf(json.body).some(mayWait),
      tools: () => TOOLS.flatMap(({ offer }) => offer(deps, exchange) ?? []),
      call: (call) => calls.add((accepted) => run(deps, exchange, json, { ...call, accepted })),
      onError: (error) =>
        deps.log.debug({ request_id: exchange.requestId, err: error }, "a message of MCP failed"),
    });
    // A stream begins once it is known what it is about; until then the files that came with the body are needed.
    await calls.areAccepted();
    return replyOf(deps, response, json.body, calls);
  } finally {
    await json.discard?.();
  }
}

/**
 * Browsers say which page a request comes from. Another page than those that the operator names may not call, whatever key it has.
 * @throws AppError `permission_denied`
 */
function requireKnownOrigin({ cors }: Deps, { request, origin: own }: KeyedExchange): void {
  const origin = request.headers.get("origin");
  const isKnown =
    origin === null || origin === own || cors.origins.includes(origin) || cors.origins.includes("*");
  if (!isKnown) throw new AppError("permission_denied", { kind: "other_origin" });
}

const messagesOf = (body: Json): readonly Json[] => (Array.isArray(body) ? body : [body]);

function batchRefusal({ headers }: Request, body: Json): Reply | undefined {
  if (!Array.isArray(body)) return undefined;
  const version = headers.get("mcp-protocol-version") ?? "";
  if (body.length > 0 && version < WITHOUT_BATCHES) return undefined;
  const message =
    body.length === 0
      ? "A batch has at least one message."
      : `Version ${version} of the protocol has no batches.`;
  return {
    status: 400,
    headers: JSON_TYPE,
    body: JSON.stringify(rpcError(INVALID_REQUEST, message, REFUSED)),
  };
}

/** The code of this service for what the protocol's own rules refuse. */
const REFUSED = { code: "invalid_request" };
const JSON_TYPE = { "Content-Type": "application/json" };

/** Whether a message calls a tool that may wait. */
function mayWait(message: Json): boolean {
  if (!isJsonObject(message) || message.method !== "tools/call" || !isJsonObject(message.params))
    return false;
  const { name, arguments: args } = message.params;
  return TOOLS.some((tool) => tool.name === name && tool.mayWait(args));
}

function sessionOf({ headers }: Request): string | undefined {
  const given = headers.get(SESSION);
  return given !== null && SESSION_FORM.test(given) ? given : undefined;
}

/** Takes up the cancellations among the messages. The calls that they are about came by other requests. */
function cancelThose({ cancellations }: Deps, { principal, request }: KeyedExchange, body: Json): void {
  for (const message of messagesOf(body)) {
    if (!isJsonObject(message) || message.method !== "notifications/cancelled") continue;
    const { params } = message;
    const requestId = isJsonObject(params) ? params.requestId : undefined;
    cancellations.cancel({ keyId: principal.keyId, session: sessionOf(request), requestId });
  }
}

/** The calls of one request. */
class Calls {
  readonly #accepted: Promise<void>[] = [];
  #last: { readonly log: ReplyLog; readonly cost: string } | undefined;

  add<T>(begin: (accepted: ToolCall["accepted"]) => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#accepted.push(promise);
    const call = begin((log, cost) => {
      this.#last = { log, cost };
      resolve();
    });
    return call.finally(resolve);
  }

  /** The task of the only call; undefined for a batch, and where there is none. */
  get only() {
    return this.#accepted.length === 1 ? this.#last : undefined;
  }

  /** Resolves once every call so far has its task, or its answer. */
  async areAccepted(): Promise<void> {
    // The kit begins its calls a few steps later.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.all(this.#accepted);
  }
}

type Called = KitCall & Pick<ToolCall, "accepted">;

async function run(
  deps: Deps,
  exchange: KeyedExchange,
  { body, inlineFiles }: JsonBody<Json>,
  { name, args, requestId, progress, accepted }: Called,
): Promise<ToolResult | "cancelled" | undefined> {
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) return undefined;
  const { request, principal } = exchange;
  const session = sessionOf(request);
  const { cancelled: named, end } = deps.cancellations.begin({ keyId: principal.keyId, session, requestId });
  // Who names a session cancels by it; who names a key for the call comes again after a lost connection.
  const staysOnHangUp = session !== undefined || (args.idempotency_key ?? undefined) !== undefined;
  const cancelled = isStateless(request, body) && !staysOnHangUp ? hangUp(request, deps.stopping) : named;
  try {
    const result = await tool.run(deps, { exchange, args, inlineFiles, cancelled, progress, accepted });
    return cancelled.aborted ? "cancelled" : result;
  } catch (error) {
    return refusalResult(told(deps, exchange, error));
  } finally {
    end();
  }
}

/** What a call threw. The stack of a defect goes to the log, with the request id that the caller got. */
function told({ log }: Deps, { requestId }: KeyedExchange, error: unknown): AppError {
  const failure = toAppError(error, false);
  if (failure.code === "internal_error") {
    const err = failure.cause instanceof Error ? failure.cause : failure;
    log.error({ request_id: requestId, err }, "unexpected error");
  }
  return failure;
}

async function replyOf(deps: Deps, response: Response, body: Json, { only }: Calls): Promise<Reply> {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "cache-control", "x-accel-buffering"]) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  if (only !== undefined) headers["X-Request-Cost"] = only.cost;
  // Only so that a client can be told apart from another one with the same key; nothing is kept under it.
  const begins = isJsonObject(body) && body.method === "initialize" && response.status === 200;
  if (begins) headers[SESSION] = deps.ids.create("req");
  if (response.status >= 400)
    return { status: response.status, headers, body: refusedText(await response.text()) };
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  return {
    status: response.status,
    headers,
    body: isStream ? response.body : response.body === null ? null : await response.text(),
    log: only?.log,
  };
}

/** A refusal of the kit's, with the code that every refusal of this service has. */
function refusedText(text: string): string {
  const told = JSON.parse(text) as JsonObject;
  const error = told.error as JsonObject;
  const data = { ...(isJsonObject(error.data) && error.data), ...REFUSED };
  return JSON.stringify({ ...told, error: { ...error, data } });
}
