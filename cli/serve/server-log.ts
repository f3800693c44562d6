import type { Config } from "../../src/config/config.ts";
import type { Context } from "../context.ts";

export type ServerLogLine = (
  level: "info" | "warn" | "error",
  fields: Readonly<Record<string, unknown>>,
  message: string,
) => void;

/**
 * Creates a log for the process around the service, for the time before the service opens its own log and after it closes it.
 * The lines have the same form.
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

/** Describes an error for a log line. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return { type: error.name, message: error.message, stack: error.stack };
}
