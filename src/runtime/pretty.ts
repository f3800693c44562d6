import { prettyFactory } from "pino-pretty";
import { printable, printableLines } from "../toolkit/printable.ts";

type Line = Readonly<Record<string, unknown>>;

/** Fields with a fixed place in the line. */
const PLACED = new Set(["level", "time", "msg", "err", "method", "path", "status", "ms", "request_id"]);
/** Fields that programs read; the key's name says enough to people. */
const HIDDEN = new Set(["account", "key_id"]);

/** Turns lines of JSON into lines for people: time, level, what happened, then the other fields as `name=value`. */
export function prettyStream(lines: { write(text: string): void }, isColoured: boolean) {
  const format = prettyFactory({
    colorize: isColoured,
    translateTime: "SYS:HH:MM:ss",
    hideObject: true,
    messageFormat: (line) => describeLine(line),
  });
  return { write: (line: string) => lines.write(format(line)) };
}

/** `POST /v1/images/generations 200 4ms key=default task=task_…` */
export function describeLine(line: Line): string {
  const took = line.ms === undefined ? [] : [`${String(line.ms)}ms`];
  const head =
    line.method === undefined ? [line.msg, ...took] : [line.method, line.path, line.status, ...took];
  const isFailure = typeof line.status === "number" && line.status >= 400;
  const fields = Object.entries(line)
    .filter(
      ([name, value]) =>
        value !== undefined &&
        !HIDDEN.has(name) &&
        (!PLACED.has(name) || (isFailure && name === "request_id")),
    )
    .map(([name, value]) => `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
  const error = isError(line.err) ? [`${line.err.type}: ${line.err.message}`] : [];
  // Callers choose paths, which may have any bytes of UTF-8, and upstreams what they say: nothing of it is a command to a terminal.
  return [printable([...head, ...fields].join(" ")), ...error.map(printableLines)].join(" ");
}

function isError(value: unknown): value is { type: string; message: string } {
  return typeof value === "object" && value !== null && "type" in value && "message" in value;
}
