import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import { AppError } from "../domain/errors.ts";
import type { Ids, Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import { type AccessDeps, type Entering, enter } from "./access.ts";
import { clientAddressOf, originOf, type ProxyTrust } from "./client-address.ts";
import type { Edge } from "./edge.ts";
import type { Connection, Handling } from "./exchange.ts";
import type { Ingress } from "./ingress/ingress.ts";
import { envelopeFor, problem, toAppError } from "./problem.ts";
import { dropReply, type Reply } from "./reply.ts";

export interface RouterDeps extends AccessDeps, ProxyTrust {
  readonly ids: Ids;
  readonly log: Log;
  /** Milliseconds on a clock that never jumps; for durations in the log. */
  readonly elapsed: () => number;
  readonly tally: Pick<Tally, "answered">;
  readonly edge: Edge;
  readonly ingress: Ingress;
  /** Where this service is reached, when it is set. */
  readonly publicUrl?: string | undefined;
}

/** A caller's own request id is kept if it matches; others are replaced. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The order every request goes through: request id, endpoint and method, access, handler, envelope of errors, log line.
 * A path that exists answers other methods with 405, an unknown one with 404, both with a request id.
 */
export function createRouter(
  deps: RouterDeps,
  endpoints: readonly Handling[],
): (request: Request, connection: Connection) => Response | Promise<Response> {
  const options = { getPath: pathOf };
  const app = new Hono<Env>(options);
  for (const endpoint of endpoints)
    app.on(endpoint.method, endpoint.path, (context) => answer(deps, context, endpoint));
  // In a separate router: with two matches for a path, hono would compose two handlers on every request.
  const otherMethods = new Hono<Env>(options);
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    otherMethods.all(path, (context) => answer(deps, context, methodNotAllowed(path, endpoints)));
  }
  otherMethods.notFound((context) => answer(deps, context, UNKNOWN_PATH));
  app.notFound((context) => otherMethods.fetch(context.req.raw, context.env));
  // Paths are not decoded before matching, but Bun has already resolved dots and backslashes.
  return (request, connection) => app.fetch(request, connection);
}

/** What hono passes to the handlers beside the request. */
type Env = { Bindings: Connection };

async function answer(deps: RouterDeps, context: Context<Env>, endpoint: Handling): Promise<Response> {
  const request = context.req.raw;
  const startedAt = deps.elapsed();
  const given = request.headers.get("x-request-id");
  const requestId =
    given !== null && REQUEST_ID.test(given) && !given.includes("-svc-") ? given : deps.ids.create("req");
  const exchange: Entering = {
    request,
    requestId,
    get origin() {
      return originOf(deps, request, context.env);
    },
    get address() {
      return clientAddressOf(deps, request, context.env);
    },
    param: (name) => context.req.param(name) ?? "",
    get intake() {
      return deps.ingress.intakeOf(request, () => ownerOf(exchange));
    },
    query: () => new URLSearchParams(request.url.split("?", 2)[1] ?? ""),
    edgeDeadline: () => (context.env.isLong ? undefined : deps.edge.deadline(startedAt)),
  };
  let reply: Reply;
  let failure: AppError | undefined;
  try {
    const handling = enter(deps, endpoint, exchange);
    const isCut = !context.env.isLong && endpoint.isStreaming !== true;
    reply = await (isCut ? deps.edge.within(exchange, startedAt, handling) : handling);
    const refused = exchange.standing?.lateRefusal();
    if (refused !== undefined) {
      dropReply(reply);
      throw refused;
    }
  } catch (error) {
    // A caller that may not be answered any more is told that, whatever became of its request.
    const reason = exchange.standing?.lateRefusal() ?? error;
    failure = toAppError(reason, request.headers.has("idempotency-key"));
    if (failure.code === "internal_error") logDefect(deps, requestId, failure);
    const told = problem(failure, envelopeFor(context.req.path, failure.code));
    reply = typeof told.body === "string" ? { ...told, body: withoutKeys(told.body) } : told;
  }
  deps.tally.answered(reply.status);
  logRequest(deps, { context, exchange, endpoint, startedAt, reply, failure });
  const headers: Record<string, string> = {
    ...reply.headers,
    ...exchange.limitHeaders,
    "X-Request-ID": requestId,
  };
  if (failure !== undefined && isLast(failure)) headers.Connection = "close";
  if (request.method === "HEAD") return withoutBody(reply, headers);
  return new Response(reply.body, { status: reply.status, headers });
}

/** The answer to HEAD, which has no body that the length could be taken from. */
function withoutBody(reply: Reply, headers: Record<string, string>): Response {
  if (typeof reply.body === "string") headers["Content-Length"] = String(Buffer.byteLength(reply.body));
  if (!(reply.body instanceof ReadableStream))
    return new Response(reply.body, { status: reply.status, headers });
  dropReply(reply);
  return new Response(null, { status: reply.status, headers });
}

/** Whether a connection ends with an error: its client may go on sending a body, or holds what there are too few of. */
function isLast({ code, facts: { kind } }: AppError): boolean {
  return (
    code === "upstream_timeout" ||
    kind === "upload_too_slow" ||
    kind === "too_many_stays" ||
    kind === "too_many_connections"
  );
}

/** Whose part of the memory for bodies a request uses. */
function ownerOf({ principal, operator }: Entering): string {
  return principal?.accountId ?? operator?.tokenId ?? "";
}

interface Answered {
  readonly context: Context<Env>;
  readonly exchange: Entering;
  readonly endpoint: Handling;
  readonly startedAt: number;
  readonly reply: Reply;
  readonly failure: AppError | undefined;
}

function logRequest({ log, elapsed }: RouterDeps, answered: Answered): void {
  const { context, exchange, endpoint, startedAt, reply, failure } = answered;
  const level =
    reply.status === 500 ? "error" : (endpoint.logLevel ?? (reply.status > 500 ? "warn" : "info"));
  // One literal, so that every line has the same fields; the log omits undefined ones.
  log[level](
    {
      request_id: exchange.requestId,
      key: exchange.principal?.keyName,
      token: exchange.operator?.tokenName,
      task: reply.log?.task ?? failure?.details.taskId,
      model: reply.log?.model,
      method: exchange.request.method,
      path: withoutKeys(context.req.path),
      status: reply.status,
      ms: Math.round((elapsed() - startedAt) * 10) / 10,
      error_code: failure?.code,
      cause: failure?.cause instanceof Error ? withoutKeys(failure.cause.message.slice(0, 300)) : undefined,
    },
    "request",
  );
}

/** Logs the stack of a defect with the request id that the caller got. */
function logDefect(deps: RouterDeps, requestId: string, failure: AppError): void {
  const err = failure.cause instanceof Error ? failure.cause : failure;
  deps.log.error({ request_id: requestId, err }, "unexpected error");
}

function methodNotAllowed(path: string, endpoints: readonly Handling[]): Handling {
  const methods = endpoints.filter((endpoint) => endpoint.path === path).map((endpoint) => endpoint.method);
  const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return {
    method: "GET",
    path,
    access: "public",
    handle: ({ request }) => {
      const facts = { kind: "method_not_allowed", method: request.method, allow } as const;
      throw new AppError("method_not_allowed", facts, { allow });
    },
  };
}

const UNKNOWN_PATH: Handling = {
  method: "GET",
  path: "*",
  access: "public",
  handle: ({ request }) => {
    throw new AppError("not_found", { kind: "unknown_path", path: withoutKeys(pathOf(request)) });
  },
};

/** Removes keys that were sent by mistake, in the path or as the name of a model, from log and answer. */
function withoutKeys(text: string): string {
  return text.includes("-svc-") ? text.replace(/[sm][kt]-svc-[0-9A-Za-z]+/g, "…") : text;
}

/**
 * The path as sent, with `//` read as `/` and without a slash at its end, because clients write both where a base URL ends in a
 * slash. Without a usable Host header (HTTP/1.0 probes, hostile callers), Bun's `url` is only the path.
 */
function pathOf(request: Request): string {
  const path = request.url.startsWith("/") ? (request.url.split("?", 1)[0] ?? "/") : getPath(request);
  const single = path.includes("//") ? path.replaceAll(/\/{2,}/g, "/") : path;
  return single.endsWith("/") && single !== "/" ? single.slice(0, -1) : single;
}
