import { isJsonObject } from "../domain/json.ts";
import { LOG_LEVELS, type LogLevel } from "../domain/log-level.ts";
import { hasLog, LogReader } from "../runtime/log-reading.ts";
import { describeLine } from "../runtime/pretty.ts";
import { type Folder, logsOf } from "./data-folder.ts";

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Selects lines; all unless given. */
export interface LogQuery {
  readonly task?: string | undefined;
  /** Name or id. */
  readonly key?: string | undefined;
  readonly request?: string | undefined;
  /** And graver ones. */
  readonly level?: LogLevel | undefined;
}

/** A server writes its log every tenth of a second. After this time, everything from before the command is in the file. */
const WRITTEN_MS = 150;
/** How often a followed log is looked at. */
const LOOK_EVERY_MS = 250;

/**
 * First the latest selected lines of a data folder's log, oldest first, all at once. Then the lines that are written from then on, a
 * batch at each check, until `signal` aborts.
 *
 * @param most lines of the first batch
 * @returns undefined where no log is kept
 */
export function readLocalLogs(config: Folder, query: LogQuery, most: number) {
  const folder = logsOf(config);
  if (!hasLog(folder)) return undefined;
  const reader = new LogReader(folder);
  return {
    async latest(): Promise<LogLine[]> {
      await Bun.sleep(WRITTEN_MS);
      return latestOf(reader.unread(), query, most);
    },
    async *later(signal: AbortSignal): AsyncGenerator<LogLine[]> {
      while (!signal.aborted) {
        await Bun.sleep(LOOK_EVERY_MS);
        const lines = [...reader.unread()]
          .map((text) => lineOf(text, query))
          .filter((line) => line !== undefined);
        if (lines.length > 0) yield lines;
      }
    },
    stop: () => reader.close(),
  };
}

function latestOf(texts: Iterable<string>, query: LogQuery, most: number): LogLine[] {
  let latest: LogLine[] = [];
  for (const text of texts) {
    const line = lineOf(text, query);
    if (line !== undefined) latest.push(line);
    if (latest.length >= most * 2) latest = latest.slice(-most);
  }
  return latest.slice(-most);
}

/** The line, if it is meant. One that a full disk has cut off is none. */
function lineOf(text: string, { task, key, request, level = "debug" }: LogQuery): LogLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(line)) return undefined;
  const isMeant =
    (task === undefined || line.task === task) &&
    (key === undefined || line.key === key || line.key_id === key) &&
    (request === undefined || line.request_id === request) &&
    gravity(line.level) >= gravity(level);
  return isMeant ? line : undefined;
}

/** Also of a level that a later version may write. */
function gravity(level: unknown): number {
  const place = (LOG_LEVELS as readonly unknown[]).indexOf(level);
  return place === -1 ? LOG_LEVELS.length : place;
}

/** `2026-11-23 21:30:01 info  POST /v1/images/generations 200 4ms key=default task=task_…`, as the server's own terminal has it. */
export function logText(line: LogLine): string {
  const time = typeof line.time === "string" ? line.time.replace("T", " ").slice(0, 19) : "";
  return `${time} ${String(line.level).padEnd(5)} ${describeLine(line)}`;
}
