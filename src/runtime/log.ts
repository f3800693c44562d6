import pino from "pino";
import type { Log, LogFields } from "../domain/ports/runtime.ts";

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "pretty" | "json";
}

export interface RunningLog extends Log {
  /** Writes what is buffered; call before the process ends. */
  flush(): void;
}

/** How long a line may wait for company before it is written. */
const FLUSH_MS = 100;

/**
 * A pino log on stderr (stdout is for data). Lines are gathered for at most 100 ms, so that a busy server does not pay one
 * system call a line; warnings and errors are written at once.
 */
export async function openLog(options: LogOptions): Promise<RunningLog> {
  const buffered = pino.destination({ dest: 2, sync: true, minLength: 8_192 });
  const stream =
    options.format === "pretty" ? (await import("./pretty.ts")).prettyStream(buffered) : buffered;
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    stream,
  );
  // Without a callback this writes and does no more; flushSync would also wait for the disk, milliseconds every time.
  const write = () => buffered.flush();
  setInterval(write, FLUSH_MS).unref();
  // Nobody may be reading the other end any more; a service does not stop for that.
  buffered.on("error", () => {});
  const flush = () => {
    try {
      buffered.flushSync();
    } catch (error) {
      buffered.emit("error", error);
    }
  };
  return { ...wrap(root, write), flush };
}

/** Many lines share a millisecond, and writing a date out costs more than the rest of a line. */
function createTimestamp(): () => string {
  let last = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function wrap(logger: pino.Logger, flush: () => void): Log {
  const write = (level: "debug" | "info" | "warn" | "error", urgent: boolean) => {
    return (fields: LogFields, message: string) => {
      logger[level](fields, message);
      if (urgent) flush();
    };
  };
  return {
    debug: write("debug", false),
    info: write("info", false),
    warn: write("warn", true),
    error: write("error", true),
    child: (fields) => wrap(logger.child(fields), flush),
  };
}

/** For tests and for commands that log nothing. */
export function createSilentLog(): Log {
  const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  return silent;
}
