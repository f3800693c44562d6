import { isJsonObject } from "../../src/domain/json.ts";
import { type Forwarded, forwardedForm, forwardedText, type Post } from "../client/forward.ts";
import type { Output } from "./output.ts";
import { printable } from "./printable.ts";
import { renderTsv } from "./table.ts";
import { formatTime } from "./units.ts";

/** The callback at the end of a task, as the server streams it to listeners. */
export interface Listened extends Post {
  readonly taskId: string;
  /** Null, like the URL, for a task without a callback_url. */
  readonly callbackId: string | null;
  readonly url: string | null;
}

/** Reads an event's data. @returns undefined when it is not a callback */
export function listenedOf(data: string): Listened | undefined {
  const { task_id, callback_id, url, headers, body } = objectIn(data);
  if (typeof task_id !== "string" || typeof body !== "string" || !isJsonObject(headers)) return undefined;
  const pairs = Object.entries(headers).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return {
    taskId: task_id,
    callbackId: typeof callback_id === "string" ? callback_id : null,
    url: typeof url === "string" ? url : null,
    headers: Object.fromEntries(pairs),
    body,
  };
}

/** The JSON form of a heard callback. */
export function listenedForm(listened: Listened, forwarded: Forwarded | null): object {
  const { taskId: task_id, callbackId: callback_id, url, headers, body } = listened;
  const forward = forwarded === null ? null : forwardedForm(forwarded);
  return { task_id, callback_id, url, headers, body, forward };
}

/** Makes a line for people, or its columns. */
export function listenedLine(
  listened: Listened,
  forwarded: Forwarded | null,
  { mode, style }: Pick<Output, "mode" | "style">,
  nowMs: number,
): string {
  const { status } = objectIn(listened.body);
  const state = typeof status === "string" ? printable(status) : "";
  const cells = [formatTime(nowMs), state, printable(listened.taskId)];
  const answer = forwarded === null ? undefined : forwardedText(forwarded, style);
  if (mode !== "pretty") return renderTsv([answer === undefined ? cells : [...cells, answer]]);
  const [time, , task] = cells;
  const padded = state.padEnd("completed".length);
  const shown = state === "failed" ? style.red(padded) : style.green(padded);
  return `${style.dim(time ?? "")}  ${shown}  ${task}${answer === undefined ? "" : ` -> ${answer}`}\n`;
}

function objectIn(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
