import pino from "pino";
import type { LogLevel } from "../domain/log-level.ts";
import type { LeveledLog, LogFields } from "../domain/ports/runtime.ts";
import { printableLines } from "../toolkit/printable.ts";
import type { LogFile } from "./log-file.ts";

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: "pretty" | "json";
  /** Of the pretty format. */
  readonly isColoured?: boolean;
}

export interface RunningLog extends LeveledLog {
  /** Keeps every later line in a file too, as JSON. */
  keepIn(file: Pick<LogFile, "write">): void;
  /** Writes what is buffered; call before the process ends. */
  flush(): void;
}

/** How long a line may wait for more lines before it is written. */
const FLUSH_MS = 100;
/** How many characters wait at most. */
const FLUSH_LENGTH = 8_192;

/**
 * A pino log on stderr (stdout is for data). Lines are gathered for at most 100 ms, so that a busy server does not pay one
 * system call a line; warnings and errors are written at once.
 */
export async function openLog(options: LogOptions): Promise<RunningLog> {
  const output = pino.destination({ dest: 2, sync: true });
  // The reader of stderr may be gone. The service continues without one.
  output.on("error", () => {});
  const lines = gather((text) => output.write(text));
  const shown = options.format === "pretty" ? await prettied(lines, options) : lines;
  let kept: ReturnType<typeof gather> | undefined;
  const stream = {
    write(line: string) {
      const safe = printableLines(line); // JSON may have as it is what a terminal takes for a command.
      shown.write(safe);
      kept?.write(safe);
    },
  };
  const flush = () => {
    lines.flush();
    kept?.flush();
  };
  const time = createTimestamp();
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${time()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
    },
    stream,
  );
  setInterval(flush, FLUSH_MS).unref();

  /**
   * Lines without an error need none of pino's serializers and are written out here, in the same form: each create writes one, and
   * pino's way to it takes four times as long.
   */
  const write = (level: LogLevel, isUrgent: boolean) => {
    return (fields: LogFields, message: string) => {
      if (!root.isLevelEnabled(level)) return;
      if (fields.err !== undefined) root[level](fields, message);
      else stream.write(lineOf(level, time(), fields, message));
      if (isUrgent) flush();
    };
  };
  return {
    debug: write("debug", false),
    info: write("info", false),
    warn: write("warn", true),
    error: write("error", true),
    isWritten: (level) => root.isLevelEnabled(level),
    level: () => root.level as LogLevel, // Only those are set.
    setLevel(level) {
      root.level = level;
    },
    keepIn(file) {
      kept = gather((text) => file.write(text));
    },
    flush,
  };
}

async function prettied(lines: { write(text: string): void }, { isColoured = false }: LogOptions) {
  return (await import("./pretty.ts")).prettyStream(lines, isColoured);
}

/** An error for a line, by its own name: in the executable, classes have names that mean nothing. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { ...pino.stdSerializers.err(error), type: error.name };
}

/** A copy of the fields with the rest around them would take as long as the text. */
function lineOf(level: LogLevel, time: string, fields: LogFields, message: string): string {
  const text = JSON.stringify(fields);
  const between = text === "{}" ? "" : `${text.slice(1, -1)},`;
  return `{"level":"${level}","time":"${time}",${between}"msg":${JSON.stringify(message)}}\n`;
}

/** Gathers lines until there are enough or `flush` is called, since each write is a system call. */
function gather(write: (text: string) => void) {
  let pending = "";
  const flush = () => {
    if (pending === "") return;
    const text = pending;
    pending = "";
    write(text);
  };
  return {
    write(line: string) {
      pending += line;
      if (pending.length >= FLUSH_LENGTH) flush();
    },
    flush,
  };
}

/** Returns the time in ISO 8601. Caches it for a millisecond: formatting a date costs more than the rest of a line. */
function createTimestamp(): () => string {
  let last = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
