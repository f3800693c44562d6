import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { taskOf } from "../client/answer.ts";
import { objectsOf, textOf } from "../client/lenient.ts";
import { stagesOf } from "../client/story.ts";
import { callbackLine, clockTime, ownerName } from "./story-words.ts";
import type { Field } from "./table.ts";
import { formatDuration, formatSize } from "./units.ts";

/** A trace in lines for people: the task, its stages, and each attempt with its phases. */
export function traceFields(trace: JsonObject): Field[] {
  const task = taskOf(isJsonObject(trace.task) ? trace.task : {});
  const attempts = objectsOf(trace.attempts);
  const error = [task.error_code, task.error_message ?? task.error].map(textOf).filter(Boolean).join(": ");
  return [
    ["task", task.task_id],
    ["model", textOf(task.model)],
    ["status", task.status],
    ["account", ownerName(task.account)],
    ["key", ownerName(task.key)],
    ["request", textOf(task.request_id)],
    ["price", priceOf(trace.price)],
    ["error", error],
    ["advice", textOf(task.advice)],
    ...stagesOf(task).map(({ stage, at, durationMs }, i): Field => {
      const took = durationMs === undefined ? "" : ` ${formatDuration(durationMs)}`;
      return [i === 0 ? "timeline" : "", `${clockTime(at)} ${stage}${took}`];
    }),
    ...attempts.flatMap(attemptFields),
    ...objectsOf(trace.assets).map((asset): Field => [textOf(asset.role) || "file", assetOf(asset)]),
    ...objectsOf(trace.callbacks).map((callback): Field => ["callback", callbackLine(callback)]),
  ].map(([name = "", value]): Field => [name, value === "" ? undefined : value]);
}

function attemptFields(attempt: JsonObject): Field[] {
  const { number, started_at, ended_at, outcome, state } = attempt;
  const took = Date.parse(textOf(ended_at)) - Date.parse(textOf(started_at));
  const what = [textOf(outcome), textOf(state)].filter(Boolean).join(", ");
  const way = wayOf(attempt);
  const told = `${what}${Number.isNaN(took) ? "" : ` after ${formatDuration(took)}`}`;
  const reason = [textOf(attempt.error_code), textOf(attempt.message)].filter(Boolean).join(": ");
  const { http_status: status } = attempt;
  return [
    [`attempt ${number}`, way === "" ? told : `${way}: ${told}`],
    ["  among", objectsOf(attempt.routes_considered).map(consideredOf).join("; ")],
    ["  phases", phasesIn(attempt.phases)],
    ["  cost", textOf(attempt.cost)],
    ["  job", textOf(attempt.upstream_id)],
    ["  answer", typeof status === "number" ? answerOf(status, textOf(attempt.upstream_request_id)) : ""],
    ["  detail", textOf(attempt.detail)],
    ["  reason", reason],
  ];
}

/** The provider, its account where that has a name, and what the provider calls the model. */
function wayOf({ provider, account, upstream_model: model }: JsonObject): string {
  const named = account === undefined || account === "default" ? "" : `/${textOf(account)}`;
  return textOf(provider) === "" ? "" : `${textOf(provider)}${named} ${textOf(model)}`;
}

const consideredOf = (way: JsonObject): string => `${wayOf(way)} ${textOf(way.verdict).replaceAll("_", " ")}`;

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
  const told = objectsOf(lines).map(
    (line) => `${textOf(line.sku)} × ${line.quantity} = ${textOf(line.amount)}`,
  );
  const end = textOf(charged) === "" ? "" : `${textOf(charged)} charged`;
  const back = textOf(refunded) === "" ? "" : `${textOf(refunded)} given back`;
  return [`${textOf(amount)} ${textOf(currency)} at most`, end, ...told, back].filter(Boolean).join("; ");
}

function assetOf({ media_type, width, height, size_bytes, url }: JsonObject): string {
  const shape = typeof width === "number" ? `${width}×${height}` : "";
  const size = typeof size_bytes === "number" ? formatSize(size_bytes) : "";
  return `${[textOf(media_type), shape, size].filter(Boolean).join(", ")} ${textOf(url)}`;
}
