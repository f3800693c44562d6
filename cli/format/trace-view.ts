import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { taskOf } from "../client/answer.ts";
import { stagesOf } from "../client/story.ts";
import type { Field } from "./table.ts";
import { formatDuration, formatSize } from "./units.ts";

/** A trace in lines for people: the task, its stages, and each attempt with its phases. */
export function traceFields(trace: JsonObject): Field[] {
  const task = taskOf(isJsonObject(trace.task) ? trace.task : {});
  const attempts = objects(trace.attempts);
  const error = [task.error_code, task.error_message ?? task.error].map(text).filter(Boolean).join(": ");
  return [
    ["task", task.task_id],
    ["model", text(task.model)],
    ["status", task.status],
    ["account", nameIn(task.account)],
    ["key", nameIn(task.key)],
    ["request", text(task.request_id)],
    ["price", priceOf(trace.price)],
    ["error", error],
    ["advice", text(task.advice)],
    ...stagesOf(task).map(({ stage, at, durationMs }, i): Field => {
      const took = durationMs === undefined ? "" : ` ${formatDuration(durationMs)}`;
      return [i === 0 ? "timeline" : "", `${clock(at)} ${stage}${took}`];
    }),
    ...attempts.flatMap(attemptFields),
    ...objects(trace.assets).map((asset): Field => [text(asset.role) || "file", assetOf(asset)]),
    ...objects(trace.callbacks).map((callback): Field => ["callback", callbackOf(callback)]),
  ].map(([name = "", value]): Field => [name, value === "" ? undefined : value]);
}

function attemptFields(attempt: JsonObject): Field[] {
  const { number, started_at, ended_at, outcome, state } = attempt;
  const took = Date.parse(text(ended_at)) - Date.parse(text(started_at));
  const what = [text(outcome), text(state)].filter(Boolean).join(", ");
  const way = wayOf(attempt);
  const told = `${what}${Number.isNaN(took) ? "" : ` after ${formatDuration(took)}`}`;
  const reason = [text(attempt.error_code), text(attempt.message)].filter(Boolean).join(": ");
  const { http_status: status } = attempt;
  return [
    [`attempt ${number}`, way === "" ? told : `${way}: ${told}`],
    ["  among", objects(attempt.routes_considered).map(consideredOf).join("; ")],
    ["  phases", phasesIn(attempt.phases)],
    ["  cost", text(attempt.cost)],
    ["  job", text(attempt.upstream_id)],
    ["  answer", typeof status === "number" ? answerOf(status, text(attempt.upstream_request_id)) : ""],
    ["  detail", text(attempt.detail)],
    ["  reason", reason],
  ];
}

/** The provider, its account where that has a name, and what the provider calls the model. */
function wayOf({ provider, account, upstream_model: model }: JsonObject): string {
  const named = account === undefined || account === "default" ? "" : `/${text(account)}`;
  return text(provider) === "" ? "" : `${text(provider)}${named} ${text(model)}`;
}

const consideredOf = (way: JsonObject): string => `${wayOf(way)} ${text(way.verdict).replaceAll("_", " ")}`;

const answerOf = (status: number, request: string): string =>
  request === "" ? String(status) : `${status} (request ${request})`;

function phasesIn(phases: Json | undefined): string {
  if (!isJsonObject(phases)) return "";
  const parts = Object.entries(phases).flatMap(([name, span]) => {
    const { duration_ms: ms, count, failed } = isJsonObject(span) ? span : {};
    const times = [count, typeof failed === "number" ? `${failed} failed` : undefined].filter(
      (each) => each !== undefined,
    );
    const told = times.length === 0 ? "" : ` (${times.join(", ")})`;
    return typeof ms === "number" ? [`${name} ${formatDuration(ms)}${told}`] : [];
  });
  return parts.join(", ");
}

function priceOf(price: Json | undefined): string {
  const { amount, charged, refunded, currency, lines } = isJsonObject(price) ? price : {};
  const told = objects(lines).map((line) => `${text(line.sku)} × ${line.quantity} = ${text(line.amount)}`);
  const end = text(charged) === "" ? "" : `${text(charged)} charged`;
  const back = text(refunded) === "" ? "" : `${text(refunded)} given back`;
  return [`${text(amount)} ${text(currency)} at most`, end, ...told, back].filter(Boolean).join("; ");
}

function assetOf({ media_type, width, height, size_bytes, url }: JsonObject): string {
  const shape = typeof width === "number" ? `${width}×${height}` : "";
  const size = typeof size_bytes === "number" ? formatSize(size_bytes) : "";
  return `${[text(media_type), shape, size].filter(Boolean).join(", ")} ${text(url)}`;
}

function callbackOf({
  host,
  state,
  attempts,
  last_status: status,
  last_outcome: outcome,
}: JsonObject): string {
  const answer = typeof status === "number" ? `answered ${status}` : text(outcome);
  return [`${text(state)} at ${text(host)}`, `${attempts} sent`, answer].filter(Boolean).join(", ");
}

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
const nameIn = (value: unknown): string => (isJsonObject(value) ? text(value.name) || text(value.id) : "");
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
