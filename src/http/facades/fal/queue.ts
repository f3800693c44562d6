import { AppError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Log } from "../../../domain/ports/runtime.ts";
import { isTerminal, type TaskSummary } from "../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../service/cancel-task.ts";
import { readTask, withQueuePosition } from "../../../service/read-task.ts";
import { type WatchTaskDeps, watchTask } from "../../../service/watch-task.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { json, type Reply } from "../../reply.ts";
import { type EventWriter, eventReply } from "../../sse.ts";
import { failureOf } from "./failure.ts";
import { logsOf, statusOf } from "./present.ts";
import { type ResultDeps, resultReply } from "./result.ts";
import { addressesOf, mayHaveQuery, queryOf } from "./target.ts";

export interface FalQueueDeps extends CancelTaskDeps, WatchTaskDeps, ResultDeps {
  readonly tasks: ResultDeps["tasks"] & CancelTaskDeps["tasks"] & WatchTaskDeps["tasks"];
  readonly log: Log;
  readonly stopping: AbortSignal;
}

/** Names a request in the headers of an answer. */
export const requestIdHeader = (id: string) => ({ "X-Fal-Request-Id": id });

/** @returns an answer of another status than 200 */
function withStatus(status: number, reply: Reply): Reply {
  return { ...reply, status };
}

/** The present status; 202 until the request has ended. */
export async function readStatus(deps: FalQueueDeps, exchange: KeyedExchange): Promise<Reply> {
  const { principal, param } = exchange;
  const task = await readTask(deps, principal, param("request_id"));
  const reading = await withQueuePosition(deps, task);
  const logs = wantsLogs(exchange) ? logsOf(task, deps.clock.now()) : undefined;
  const failure = hasFailed(task) ? await failureOf(deps, task) : undefined;
  return {
    status: isTerminal(task.status) ? 200 : 202,
    headers: { "Content-Type": "application/json", "X-Fal-Request-Id": task.id },
    body: statusOf(reading, addressesOf(exchange, param("model"), task.id), logs, failure),
  };
}

function hasFailed({ status }: TaskSummary): boolean {
  return isTerminal(status) && status !== "completed";
}

function wantsLogs(exchange: KeyedExchange): boolean {
  if (!mayHaveQuery(exchange)) return false;
  const logs = queryOf(exchange).get("logs");
  return logs !== null && logs !== "0" && logs !== "false";
}

/** Each status as an event, up to the last one. A line of the log comes once. */
export async function streamStatus(deps: FalQueueDeps, exchange: KeyedExchange): Promise<Reply> {
  const { request, requestId, principal, standing, param } = exchange;
  // Refused before the stream begins, while a 404 is still possible.
  const { id } = await readTask(deps, principal, param("request_id"));
  const addresses = addressesOf(exchange, param("model"), id);
  const isLogged = wantsLogs(exchange);
  const write = async (to: EventWriter, signal: AbortSignal) => {
    const shown = new Set<unknown>();
    for await (const event of watchTask(deps, principal, { id, signal })) {
      if (event.kind === "preview") continue;
      const lines = logsOf(event.task, deps.clock.now()).filter(({ message }) => !shown.has(message));
      for (const { message } of lines) shown.add(message);
      const told = isLogged ? lines : undefined;
      const failure = hasFailed(event.task) ? await failureOf(deps, event.task) : undefined;
      await to.event({ data: statusOf(event.task, addresses, told, failure) });
    }
  };
  const signal = AbortSignal.any([request.signal, deps.stopping]);
  const onError = (error: unknown) =>
    deps.log.error({ request_id: requestId, task: id, err: error as Error }, "an event stream failed");
  const reply = eventReply({ clock: deps.clock, signal, standing, write, onError }, { task: id });
  return { ...reply, headers: { ...reply.headers, ...requestIdHeader(id) } };
}

/** What clients of that API expect if they request a result too early. */
const UNDER_WAY = "Request is still in progress";

/** @throws AppError for a request that failed or was cancelled, like a direct run of it */
export async function readResult(deps: FalQueueDeps, exchange: KeyedExchange): Promise<Reply> {
  const { principal, param, origin } = exchange;
  const task = await readTask(deps, principal, param("request_id"));
  if (!isTerminal(task.status)) {
    const body = { detail: UNDER_WAY, error_type: "bad_request", message: UNDER_WAY };
    return withStatus(400, json(body, requestIdHeader(task.id), { task: task.id, model: task.model }));
  }
  if (task.status !== "completed") throw await failureOf(deps, task);
  return resultReply(deps, task, { origin, headers: requestIdHeader(task.id) });
}

export async function cancelRequest(deps: FalQueueDeps, { principal, param }: KeyedExchange): Promise<Reply> {
  try {
    const { id, model } = await cancelTask(deps, principal, param("request_id"));
    const body = { status: "CANCELLATION_REQUESTED" };
    return withStatus(202, json(body, requestIdHeader(id), { task: id, model }));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "task_not_found") return refused(404, "NOT_FOUND", error);
    if (error.code === "task_not_cancellable") return refused(400, "ALREADY_COMPLETED", error);
    throw error;
  }
}

function refused(httpStatus: number, status: string, { message }: AppError): Reply {
  const body: JsonObject = { status, detail: message, message };
  return withStatus(httpStatus, json(body));
}
