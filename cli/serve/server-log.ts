import type { Config } from "../../src/config/config.ts";
import type { Context } from "../context.ts";

export type ServerLogLine = (
  level: "info" | "warn" | "error",
  fields: Readonly<Record<string, unknown>>,
  message: string,
) => void;

/**
 * Log lines of the process around the service, in the form of the service's own: for what happens before its log is open and
 * after it is closed.
 */
export function createServerLog(config: Pick<Config, "log">, { stderr }: Context): ServerLogLine {
  const isJson = config.log.format === "json" || (config.log.format === "auto" && !stderr.isTerminal);
  return (level, fields, message) => {
    const now = new Date();
    const line = isJson
      ? JSON.stringify({ level, time: now.toISOString(), ...fields, msg: message })
      : `[${now.toTimeString().slice(0, 8)}] ${level.toUpperCase()}: ${message}${showFields(fields)}`;
    stderr.write(`${line}\n`);
  };
}

function showFields(fields: Readonly<Record<string, unknown>>): string {
  return Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`;
}

/** An error as a log line holds it. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return { type: error.name, message: error.message, stack: error.stack };
}
