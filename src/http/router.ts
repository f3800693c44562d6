import type { AtHand } from "../domain/at-hand.ts";
import { AppError } from "../domain/errors.ts";
import type { Log } from "../domain/ports/runtime.ts";
import type { Tally } from "../domain/ports/tally.ts";
import type { Shedding } from "../service/shedding.ts";
import { type AccessDeps, enter } from "./access.ts";
import { Arriving, type ArrivingDeps } from "./arriving.ts";
import type { Connection, Exchange, Handling } from "./exchange.ts";
import { otherPathOf } from "./facades/spoken.ts";
import { isImagesClient } from "./images-client.ts";
import {
  createLongerPaths,
  createNearbyPaths,
  createOtherBases,
  createSimilarPaths,
} from "./nearby-paths.ts";
import { createPaths } from "./paths.ts";
import { envelopeFor, problem, toAppError } from "./problem.ts";
import { dropReply, type Reply } from "./reply.ts";

export interface RouterDeps extends AccessDeps, ArrivingDeps {
  readonly log: Log;
  readonly tally: Pick<Tally, "answered">;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The requests to refuse under overload, before their credentials are read. */
  readonly shedding: Pick<Shedding, "refusal">;
  /** Whether to log requests that do not fail because of the service or a provider. */
  readonly logsRequests: boolean;
}

/**
 * The order of steps for every request: request id, endpoint and method, overload, access, handler, envelope of errors, log
 * line. For other methods an existing path answers 405. An unknown path answers 404 unless `otherwise` answers it. Both have a
 * request id.
 */
export function createRouter(
  deps: RouterDeps,
  endpoints: readonly Handling[],
  otherwise: Handling = unknownPath(endpoints),
): (request: Request, connection: Connection) => AtHand<Response> {
  const find = createPaths(endpoints, otherwise);
  return (request, connection) => answer(deps, new Arriving(deps, request, connection, find(request)));
}

/** An answer that is ready is returned at once, because a promise for each would cost more than most handlers. */
function answer(deps: RouterDeps, exchange: Arriving): AtHand<Response> {
  let reply: AtHand<Reply>;
  try {
    reply = begin(deps, exchange);
  } catch (error) {
    return finish(deps, exchange, failed(deps, exchange, error));
  }
  if (!(reply instanceof Promise)) return finish(deps, exchange, answered(deps, exchange, reply));
  return reply.then(
    (value) => finish(deps, exchange, answered(deps, exchange, value)),
    (error: unknown) => finish(deps, exchange, failed(deps, exchange, error)),
  );
}

/** @throws whatever ends the request */
function begin(deps: RouterDeps, exchange: Arriving): AtHand<Reply> {
  const endpoint = exchange.handling;
  const overload = endpoint.sheds && deps.shedding.refusal(endpoint.sheds);
  if (overload !== undefined) throw overload;
  const handling = enter(deps, endpoint, exchange);
  const isCut = !exchange.isLong && endpoint.isStreaming !== true;
  return isCut ? deps.edge.within(exchange, exchange.startedAt, handling) : handling;
}

/** What a request came to. */
interface Outcome {
  readonly reply: Reply;
  readonly failure?: AppError;
}

function answered(deps: RouterDeps, exchange: Arriving, reply: Reply): Outcome {
  const refused = exchange.standing?.lateRefusal();
  if (refused === undefined) return { reply };
  dropReply(reply);
  return failed(deps, exchange, refused);
}

function failed(deps: RouterDeps, exchange: Arriving, error: unknown): Outcome {
  // A caller that may no longer be answered gets this refusal, whatever the result of its request.
  const reason = exchange.standing?.lateRefusal() ?? error;
  const failure = toAppError(reason, exchange.request.headers.has("idempotency-key"));
  if (isDefect(failure)) logDefect(deps, exchange.requestId, failure);
  const { path, request } = exchange;
  const told = problem(failure, envelopeFor(path, failure.code), isImagesClient(request));
  const reply = typeof told.body === "string" ? { ...told, body: withoutKeys(told.body) } : told;
  return { reply, failure };
}

function finish(deps: RouterDeps, exchange: Arriving, { reply, failure }: Outcome): Response {
  const { request, requestId, startedAt, handling: endpoint } = exchange;
  const durationMs = deps.elapsed() - startedAt;
  deps.tally.answered(reply.status, { route: endpoint.path, method: request.method, durationMs });
  logRequest(deps, exchange, { reply, failure, durationMs });
  if (deps.spans !== undefined && endpoint.access !== "public") traceRequest(deps, exchange, reply, failure);
  if (reply.kept !== undefined && exchange.limitHeaders === undefined)
    return withKeptHeaders(request, reply, reply.kept, requestId);
  const headers: Record<string, string> = { ...reply.headers, "X-Request-ID": requestId };
  if (reply.own !== undefined) Object.assign(headers, reply.own);
  if (exchange.limitHeaders !== undefined) Object.assign(headers, exchange.limitHeaders);
  if (failure !== undefined && isLast(failure)) headers.Connection = "close";
  if (request.method === "HEAD") return withoutBody(reply, headers);
  const response = new Response(reply.body, { status: reply.status, headers });
  for (const cookie of reply.cookies ?? []) response.headers.append("Set-Cookie", cookie);
  return response;
}

/**
 * An answer with headers that many answers share. Reading them from an object would take longer than everything else here, and so would
 * changing those of the answer: it copies the shared ones, which have its own for that moment.
 */
function withKeptHeaders({ method }: Request, reply: Reply, kept: Headers, requestId: string): Response {
  const { status, own } = reply;
  const isHead = method === "HEAD";
  if (isHead) dropReply(reply);
  kept.set("X-Request-ID", requestId);
  try {
    for (const name in own) kept.set(name, own[name] as string);
    return new Response(isHead ? null : reply.body, { status, headers: kept });
  } finally {
    for (const name in own) kept.delete(name);
  }
}

/** Traces a request. Only the pattern of its path is reported, because paths and queries may contain keys. */
function traceRequest(
  { spans, elapsed, now }: RouterDeps,
  exchange: Arriving,
  reply: Reply,
  failure: AppError | undefined,
): void {
  const { place, request, handling, principal } = exchange;
  if (spans === undefined || place?.isSampled !== true) return;
  const endAt = now();
  spans.answered(place, {
    ...{ name: `${request.method} ${handling.path}`, kind: "server" },
    ...{ startAt: endAt - (elapsed() - exchange.startedAt), endAt },
    attributes: {
      "http.request.method": request.method,
      "http.route": handling.path,
      "http.response.status_code": reply.status,
      "svc.request_id": exchange.requestId,
      "svc.account_id": principal?.accountId,
      "svc.task_id": reply.log?.task ?? failure?.details.taskId,
      "svc.model": reply.log?.model,
      "error.type": failure?.code,
    },
    error: reply.status >= 500 ? (failure?.code ?? String(reply.status)) : undefined,
  });
}

/** The answer to HEAD. It has no body from which Bun could take the length. */
function withoutBody(reply: Reply, headers: Record<string, string>): Response {
  if (typeof reply.body === "string") headers["Content-Length"] = String(Buffer.byteLength(reply.body));
  dropReply(reply);
  return new Response(null, { status: reply.status, headers });
}

/**
 * Whether an error closes its connection: the client may otherwise go on sending a body, or the connection occupies a scarce
 * resource.
 */
function isLast({ code, facts: { kind } }: AppError): boolean {
  return (
    code === "upstream_timeout" ||
    kind === "upload_too_slow" ||
    kind === "too_many_stays" ||
    kind === "too_many_connections"
  );
}

function logRequest(
  { log, logsRequests }: RouterDeps,
  exchange: Arriving,
  answered: { reply: Reply; failure: AppError | undefined; durationMs: number },
): void {
  const { reply, failure, durationMs } = answered;
  if (!logsRequests && reply.status < 500) return;
  const { principal, operator } = exchange;
  const level = isShed(failure)
    ? "debug"
    : reply.status === 500 && (failure === undefined || isDefect(failure))
      ? "error"
      : (exchange.handling.logLevel ?? (reply.status >= 500 ? "warn" : "info"));
  if (log.isWritten?.(level) === false) return;
  // One literal, so that every line has the same fields; the log omits undefined ones.
  log[level](
    {
      request_id: exchange.requestId,
      account: principal?.accountId,
      key: principal?.keyName,
      key_id: principal?.keyId,
      token: operator?.tokenName,
      task: reply.log?.task ?? failure?.details.taskId,
      model: reply.log?.model,
      method: exchange.request.method,
      path: shownPath(exchange),
      status: reply.status,
      ms: Math.round(durationMs * 10) / 10,
      cost: reply.headers["X-Request-Cost"],
      error_code: failure?.code,
      cause: failure?.cause instanceof Error ? withoutKeys(failure.cause.message.slice(0, 300)) : undefined,
    },
    "request",
  );
}

/** The beginning of shedding is logged once; a line for each refused request would add load. */
function isShed(failure: AppError | undefined): boolean {
  return failure?.facts.kind === "overloaded" || failure?.facts.kind === "queue_too_long";
}

function shownPath({ handling, path }: Pick<Arriving, "handling" | "path">): string {
  return handling.isSecret === true ? handling.path : withoutKeys(path);
}

/** Whether the service itself is at fault. A task's failure at its provider is logged at the end of the task. */
function isDefect({ code, facts }: AppError): boolean {
  return code === "internal_error" && facts.kind !== "task_failed";
}

/** Logs the stack of a defect with the request id that the caller got. */
function logDefect(deps: RouterDeps, requestId: string, failure: AppError): void {
  const err = failure.cause instanceof Error ? failure.cause : failure;
  deps.log.error({ request_id: requestId, err }, "unexpected error");
}

/** A path that begins with so many segments of one that exists has the right base address. */
const FAR_IN = 3;

/** Answers on unknown paths, and names what is documented nearby: clients of other APIs ask for more than is spoken of these here. */
function unknownPath(endpoints: readonly Handling[]): Handling {
  const documented = endpoints.flatMap((each) => ("contract" in each ? [each.path] : []));
  const [nearby, longer] = [createNearbyPaths(documented), createLongerPaths(documented)];
  const [otherBases, similar] = [createOtherBases(documented), createSimilarPaths(documented)];
  const handle = ({ path: sent, request }: Exchange): never => {
    const path = withoutKeys(sent);
    const other = otherPathOf(sent, request);
    const there = nearby(other === undefined ? path : withoutKeys(other));
    const meant = longer(path);
    const isFarIn = there !== undefined && there.below.split("/").length > FAR_IN;
    const elsewhere = meant.length > 0 || isFarIn ? [] : otherBases(path);
    throw new AppError("not_found", {
      kind: "unknown_path",
      ...{ path, meant, elsewhere },
      near: similar(path),
      nearby: there,
    });
  };
  return { method: "GET", path: "*", access: "public", handle };
}

/** Keys of this service, and of other gateways, which may have been imported. */
const KEYS = /[sm][kt]-svc-[0-9A-Za-z]+|(?<![0-9A-Za-z])sk-[0-9A-Za-z._-]{4,250}/g;

/** Removes keys that were sent by mistake, in the path or as a model's name, from the log and the answer. */
function withoutKeys(text: string): string {
  return text.includes("-") ? text.replace(KEYS, "…") : text;
}
