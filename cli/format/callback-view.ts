import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { unexpectedAnswer } from "../failure.ts";
import type { Output } from "./output.ts";
import { firstLine, printable, printableJson } from "./printable.ts";
import { type Column, column, type Field, renderFields, renderTsv } from "./table.ts";
import { formatDuration, formatTime } from "./units.ts";

/** A callback as the server answers it: the fields every callback has, and any others. */
export type CallbackView = JsonObject & {
  readonly id: string;
  readonly task_id: string;
  readonly state: string;
};

/** One page of callbacks, newest first. */
export interface CallbackPage {
  readonly callbacks: CallbackView[];
  readonly next: string | null;
}

const columnsOf = (owners: readonly Column[], address: "URL" | "HOST"): readonly Column[] => [
  ...[column.id("ID"), column.id("TASK", 2), ...owners],
  ...[column.word("STATE"), column.number("ATTEMPTS", 4), column.word("NEXT", 3)],
  ...[column.text(address, 1), column.word("CREATED", 5)],
];
export const CALLBACK_COLUMNS = columnsOf([], "URL");
/** For operators, who see the callbacks of all accounts. */
export const MANAGED_COLUMNS = columnsOf([column.text("ACCOUNT", 2), column.text("KEY", 3)], "HOST");
const SEND_COLUMNS = [
  ...[
    column.number("#"),
    column.word("KIND", 4),
    column.word("TIME", 2),
    column.number("DURATION", 3),
    column.word("OUTCOME"),
    column.number("STATUS"),
  ],
  ...[column.text("ADDRESS", 5), column.text("ANSWER", 6), column.text("ERROR", 1)],
];
/** Longest shown part of an answer's first line, in characters. */
const ANSWER_CHARACTERS = 40;

export function callbackOf(data: unknown): CallbackView {
  const view = isJsonObject(data) ? data : {};
  const { id, task_id, state } = view;
  if (typeof id === "string" && typeof task_id === "string" && typeof state === "string")
    return { ...view, id, task_id, state };
  throw unexpectedAnswer("The server's answer is no callback.");
}

export function callbackPageOf({ callbacks, next }: JsonObject): CallbackPage {
  return {
    callbacks: Array.isArray(callbacks) ? callbacks.map(callbackOf) : [],
    next: typeof next === "string" ? next : null,
  };
}

/** Lists every send so far, in order. */
export function historyOf({ history }: CallbackView): JsonObject[] {
  return Array.isArray(history) ? history.filter(isJsonObject) : [];
}

/** Makes one line of a list. Hides the query of the URL, where receivers keep tokens. */
export function callbackRow(callback: CallbackView): string[] {
  return rowOf(callback, [], urlWithoutQuery(cell(callback.url)));
}

/** Makes one line of an operator's list. */
export function managedRow(callback: CallbackView): string[] {
  return rowOf(callback, [nameIn(callback.account), nameIn(callback.key)], cell(callback.host));
}

function rowOf(callback: CallbackView, owners: readonly string[], address: string): string[] {
  const { id, task_id, state, attempts, max_attempts, next_attempt_at, redelivery_due } = callback;
  const next = redelivery_due === true ? "redelivery now" : time(next_attempt_at);
  return [
    printable(id),
    printable(task_id),
    ...owners,
    printable(state),
    `${cell(attempts)}/${cell(max_attempts)}`,
    next,
    address,
    time(callback.created_at),
  ];
}

export function urlWithoutQuery(url: string): string {
  const [address = "", ...query] = url.split("?");
  return query.length === 0 ? address : `${address}?…`;
}

/** Prints a callback in full: its content and the result of each send. Escapes control characters in receivers' answers. */
export async function showCallback(
  callback: CallbackView,
  output: Pick<Output, "style" | "mode" | "table" | "show">,
): Promise<void> {
  const text = output.mode === "json" ? "" : await renderCallback(callback, output);
  output.show(callback, () => text);
}

async function renderCallback(
  callback: CallbackView,
  output: Pick<Output, "style" | "mode" | "table">,
): Promise<string> {
  const { attempts, max_attempts, redelivery_due } = callback;
  const payload = isJsonObject(callback.payload) ? callback.payload : {};
  const sends = historyOf(callback).map(historyRow);
  const fields: Field[] = [
    ["callback", printable(callback.id)],
    ["task", printable(callback.task_id)],
    ["request", cell(callback.request_id) || undefined],
    ["account", nameIn(callback.account) || undefined],
    ["key", nameIn(callback.key) || undefined],
    ["url", cell(callback.url) || undefined],
    ["host", cell(callback.host) || undefined],
    ["state", printable(callback.state)],
    ["attempts", `${cell(attempts)}/${cell(max_attempts)}`],
    ["next", time(callback.next_attempt_at) || undefined],
    ["redelivery", redelivery_due === true ? "now" : undefined],
    ["created", time(callback.created_at) || undefined],
  ];
  if (output.mode !== "pretty") {
    const rows = sends.map((row) => ["send", ...row]);
    return renderFields([...fields, ["payload", printableJson(payload)]], output) + renderTsv(rows);
  }
  const history = sends.length === 0 ? "Not sent yet.\n" : await output.table(SEND_COLUMNS, sends);
  return `${renderFields(fields, output)}\n${printableJson(payload, 2)}\n\n${history}`;
}

/** Describes the result of a send in a few words. */
export function sendSummary(send: JsonObject): string {
  const { status, error, outcome } = send;
  if (typeof status === "number") return `it answered ${status}`;
  return cell(error) || cell(outcome) || "no outcome is known";
}

function historyRow(send: JsonObject): string[] {
  const { duration_ms, answer } = send;
  return [
    cell(send.sequence),
    cell(send.kind),
    time(send.started_at),
    typeof duration_ms === "number" ? formatDuration(duration_ms) : "",
    cell(send.outcome) || "under way",
    cell(send.status),
    cell(send.address),
    typeof answer === "string" ? firstLine(answer, ANSWER_CHARACTERS) : "",
    cell(send.error),
  ];
}

/** Formats an ISO 8601 time like every other time. */
function time(value: unknown): string {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? "" : formatTime(at);
}

/** The name of an owner, for operators. */
const nameIn = (owner: unknown): string => (isJsonObject(owner) ? cell(owner.name) : "");

function cell(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? printable(String(value)) : "";
}
