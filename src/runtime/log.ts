import pino from "pino";
import type { LogLevel } from "../domain/log-level.ts";
import type { LeveledLog, LogFields } from "../domain/ports/runtime.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { printableLines } from "../toolkit/printable.ts";
import type { LogFile } from "./log-file.ts";
import { createLogOutput, type LogOutput } from "./log-output.ts";

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: "pretty" | "json";
  /** Of the pretty format. */
  readonly isColoured?: boolean;
}

export interface RunningLog extends LeveledLog {
  /** Keeps every later line in a file too, as JSON. */
  keepIn(file: Pick<LogFile, "write">): void;
  /** Writes what is buffered, as far as its reader takes it. */
  flush(): void;
  /** The same before the process ends: gives a slow reader a second. */
  end(): Promise<void>;
}

/** How long a line may wait for more lines before it is written. */
const FLUSH_MS = 100;
/** How many characters wait at most. */
const FLUSH_LENGTH = 8_192;
/** How long the process stays for the reader of its last lines. */
const END_MS = 1_000;

/**
 * A pino log on stderr (stdout is for data). Lines are gathered for at most 100 ms, so that a busy server does not pay one
 * system call a line; warnings and errors are written at once.
 */
export async function openLog(options: LogOptions): Promise<RunningLog> {
  const output: LogOutput = createLogOutput((lines) =>
    log.warn({ lines }, "the log was not read for a while, and these lines were left out"),
  );
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
    return output.flush();
  };
  const time = createTimestamp();
  const root = openRoot(options, time, stream);
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
  const log: RunningLog = {
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
    async end() {
      for (let waitedMs = 0; !flush() && waitedMs < END_MS; waitedMs += FLUSH_MS) await Bun.sleep(FLUSH_MS);
    },
  };
  return log;
}

function openRoot({ level }: LogOptions, time: () => string, stream: pino.DestinationStream) {
  const form: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: () => `,"time":"${time()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describe },
  };
  return pino(form, stream);
}

async function prettied(lines: { write(text: string): void }, { isColoured = false }: LogOptions) {
  return (await import("./pretty.ts")).prettyStream(lines, isColoured);
}

/** An error for a line, by its own name: in the executable, classes have names that mean nothing. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { stack, ...told } = pino.stdSerializers.err(error);
  return { ...told, type: error.name, ...(isOfPlace(error) ? {} : { stack }) };
}

/** Whether the place where files lie is at fault and no program, so that where it was noticed says nothing. */
const isOfPlace = (error: Error): boolean =>
  error instanceof StorageError && (error.kind === "full" || error.kind === "read_only");

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
