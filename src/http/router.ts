import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import type { Principal } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { Ids, Log } from "../domain/ports/runtime.ts";
import type { Authenticate } from "../service/authenticate.ts";
import { credentialOf } from "./credential.ts";
import type { Exchange, Route } from "./exchange.ts";
import { envelopeFor, problem, toAppError } from "./problem.ts";
import type { Reply } from "./reply.ts";

export interface RouterDeps {
  readonly authenticate: Authenticate;
  readonly ids: Ids;
  readonly log: Log;
  /** Milliseconds on a clock that never jumps; for durations in the log. */
  readonly elapsed: () => number;
  /** Where this service is reached, when it is set. */
  readonly publicUrl?: string | undefined;
}

/** A caller's own request id is kept when it is one of these; anything else is replaced. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$|^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;

/**
 * The order every request goes through: request id, route and method, credential, handler, envelope of errors, log line.
 * A path that exists answers other methods with 405, an unknown one with 404, both with a request id.
 */
export function createRouter(
  deps: RouterDeps,
  routes: readonly Route[],
): (request: Request) => Response | Promise<Response> {
  const options = { getPath: pathOf };
  const app = new Hono(options);
  for (const route of routes) app.on(route.method, route.path, (context) => answer(deps, context, route));
  // In a router of their own: a second match for a path would cost every request the composition of two handlers.
  const otherMethods = new Hono(options);
  for (const path of new Set(routes.map((route) => route.path))) {
    otherMethods.all(path, (context) => answer(deps, context, methodNotAllowed(path, routes)));
  }
  otherMethods.notFound((context) => answer(deps, context, UNKNOWN_PATH));
  app.notFound((context) => otherMethods.fetch(context.req.raw));
  // Paths are matched as sent, and request.url is built from what was sent.
  return (request) => app.fetch(request);
}

async function answer(deps: RouterDeps, context: Context, route: Route): Promise<Response> {
  const request = context.req.raw;
  const startedAt = deps.elapsed();
  const given = request.headers.get("x-request-id");
  const requestId = given !== null && REQUEST_ID.test(given) ? given : deps.ids.create("req");
  const exchange: Exchange & { principal?: Principal } = {
    request,
    requestId,
    get origin() {
      return originOf(deps, request);
    },
    param: (name) => context.req.param(name) ?? "",
    query: () => new URLSearchParams(request.url.split("?", 2)[1] ?? ""),
  };
  let reply: Reply;
  let failure: AppError | undefined;
  try {
    if (route.access === "api_key") {
      const principal = deps.authenticate(credentialOf(request, exchange.query));
      reply = await route.handle(Object.assign(exchange, { principal }));
    } else {
      reply = await route.handle(exchange);
    }
  } catch (error) {
    failure = toAppError(error, request.headers.has("idempotency-key"));
    if (failure.code === "internal_error") logDefect(deps, requestId, failure);
    reply = problem(failure, envelopeFor(context.req.path, failure.code));
  }
  const level = reply.status === 500 ? "error" : (route.logLevel ?? (reply.status > 500 ? "warn" : "info"));
  // One literal, so that every line has the same shape; what is undefined is left out of it.
  deps.log[level](
    {
      request_id: requestId,
      key: exchange.principal?.keyName,
      task: reply.log?.task,
      model: reply.log?.model,
      method: request.method,
      path: withoutKeys(context.req.path),
      status: reply.status,
      ms: Math.round((deps.elapsed() - startedAt) * 10) / 10,
      error_code: failure?.code,
      cause: failure?.cause instanceof Error ? failure.cause.message.slice(0, 300) : undefined,
    },
    "request",
  );
  const headers: Record<string, string> = { ...reply.headers, "X-Request-ID": requestId };
  // The body is left out on the way, and with it what its length would be told by.
  if (request.method === "HEAD" && typeof reply.body === "string") {
    headers["Content-Length"] = String(Buffer.byteLength(reply.body));
  }
  return new Response(reply.body, { status: reply.status, headers });
}

/** A mistake of ours: its stack goes to the log, under the id that the caller was given. */
function logDefect(deps: RouterDeps, requestId: string, failure: AppError): void {
  const err = failure.cause instanceof Error ? failure.cause : failure;
  deps.log.error({ request_id: requestId, err }, "unexpected error");
}

function methodNotAllowed(path: string, routes: readonly Route[]): Route {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method);
  const allow = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return {
    method: "GET",
    path,
    access: "public",
    handle: ({ request }) => {
      throw new AppError(
        "method_not_allowed",
        `${request.method} is not taken here; use ${allow.join(" or ")}.`,
        { allow },
      );
    },
  };
}

const UNKNOWN_PATH: Route = {
  method: "GET",
  path: "*",
  access: "public",
  handle: ({ request }) => {
    throw new AppError("not_found", `There is nothing at ${withoutKeys(pathOf(request)).slice(0, 80)}.`);
  },
};

/** Scheme and host as the caller wrote them, unless the operator said where this service is reached. */
function originOf(deps: RouterDeps, request: Request): string {
  if (deps.publicUrl !== undefined) return deps.publicUrl;
  const host = request.headers.get("host");
  if (host !== null && HOST.test(host)) return `http://${host}`;
  throw new AppError(
    "invalid_request",
    "The Host header must be a host name or address, with a port if need be.",
  );
}

/** A key sent in the path by mistake stays out of log and answer. */
function withoutKeys(path: string): string {
  return path.includes("-svc-") ? path.replace(/[sm][kt]-svc-[0-9A-Za-z]+/g, "…") : path;
}

/** Without a usable Host header (HTTP/1.0 probes, hostile callers) Bun leaves only the path in `url`. */
function pathOf(request: Request): string {
  return request.url.startsWith("/") ? (request.url.split("?", 1)[0] ?? "/") : getPath(request);
}
