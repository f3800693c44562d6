import { fstatSync, type Stats, statSync, writeSync } from "node:fs";
import { reasonOf } from "../src/toolkit/system-error.ts";
import type { Sink, Source } from "./context.ts";
import { EXIT } from "./exit-codes.ts";

export const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

/** A pipe takes as much at once, even if nobody reads yet. */
const AT_ONCE_BYTES = 32 * 1024;
const NOTHING = new Uint8Array();

/** Whether a descriptor is a terminal. Asks `node:tty`, which takes milliseconds to load, about devices alone. */
export function isTerminal(descriptor: number): boolean {
  const opened = statOf(() => fstatSync(descriptor));
  // One that is closed is none.
  if (opened?.isCharacterDevice() !== true) return false;
  if (opened.rdev === statOf(() => statSync("/dev/null"))?.rdev) return false;
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/**
 * Standard output or standard error. What is short and goes to no terminal is written at once: most commands say little, and Node's
 * streams take a tenth of their time to load.
 * @param open returns Node's stream
 */
export function createSink(descriptor: 1 | 2, open: () => NodeJS.WriteStream): Sink {
  const isOnTerminal = isTerminal(descriptor);
  let stream: NodeJS.WriteStream | undefined;
  let roomBytes = isOnTerminal ? 0 : AT_ONCE_BYTES;
  let isUnread = false;
  let mustBeWhole = false;

  // The reader may close its end at any time, as `| head` does. Then nobody is left to read an error.
  function fail(error: unknown): void {
    const isLeft = hasCode(error, "EPIPE");
    // Messages are beside the work, which goes on without a reader of them.
    isUnread ||= isLeft && descriptor === STANDARD_ERROR;
    if (isUnread) return;
    if (isLeft && !mustBeWhole) process.exit(process.exitCode ?? EXIT.ok);
    const reason = isLeft ? "nobody reads it any more" : reasonOf(error);
    if (descriptor !== STANDARD_ERROR) process.stderr.write(`error: Cannot write the output: ${reason}.\n`);
    process.exit(EXIT.error);
  }

  function streaming(): NodeJS.WriteStream {
    roomBytes = 0;
    stream ??= open().on("error", fail);
    return stream;
  }

  /** @returns what is left for the stream */
  function writeAtOnce(bytes: Uint8Array): Uint8Array {
    let rest = bytes;
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (!hasCode(error, "EAGAIN")) fail(error);
    }
    roomBytes -= bytes.length;
    return isUnread ? NOTHING : rest;
  }

  return {
    isTerminal: isOnTerminal,
    // Read again each time, because a window may change its size.
    get columns() {
      return isOnTerminal ? sized(streaming().columns) : undefined;
    },
    get rows() {
      return isOnTerminal ? sized(streaming().rows) : undefined;
    },
    write(text) {
      if (isUnread) return;
      const bytes = typeof text === "string" ? Buffer.from(text) : text;
      const rest = bytes.length <= roomBytes ? writeAtOnce(bytes) : bytes;
      if (rest.length > 0) streaming().write(rest);
    },
    writeBytes: (bytes, isWhole = false) =>
      new Promise((resolve) => {
        if (isUnread) return resolve();
        mustBeWhole = isWhole;
        streaming().write(bytes, (error) => resolve(error ? fail(error) : undefined));
      }),
  };
}

/** Serial lines, and terminals that programs open for others, often say 0: they do not know their size. */
const sized = (given: number): number | undefined => (given > 0 ? given : undefined);

/** Standard input, which is left alone until a command reads it. */
export function createSource(): Source {
  return {
    get isTerminal() {
      return isTerminal(STANDARD_INPUT);
    },
    async readLine(signal) {
      const { createInterface } = await import("node:readline");
      const lines = createInterface({ input: process.stdin });
      const stop = () => lines.close();
      signal.addEventListener("abort", stop, { once: true });
      try {
        for await (const line of lines) return line;
        return undefined;
      } finally {
        signal.removeEventListener("abort", stop);
        lines.close();
        process.stdin.unref();
      }
    },
    readLines: (signal) => linesOf(Bun.stdin.stream(), signal),
    readAll: () => Bun.stdin.bytes(),
    readText: () => Bun.stdin.text(),
  };
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_END = 10;

/** Lines end with LF alone: JSON has other ends of lines within its texts. */
async function* linesOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel();
  signal.addEventListener("abort", stop, { once: true });
  let begun: Uint8Array[] = [];
  let length = 0;
  const line = (rest: Uint8Array) => {
    const text = Buffer.concat([...begun, rest]).toString();
    begun = [];
    length = 0;
    return text;
  };
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      let from = 0;
      for (let at = read.value.indexOf(LINE_END); at >= 0; at = read.value.indexOf(LINE_END, from)) {
        yield line(read.value.subarray(from, at));
        from = at + 1;
      }
      const rest = read.value.slice(from);
      length += rest.length;
      if (length > MAX_LINE_BYTES) throw new Error(`A line is longer than ${MAX_LINE_BYTES} bytes.`);
      begun.push(rest);
    }
    if (length > 0) yield line(new Uint8Array());
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function statOf(read: () => Stats): Stats | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
