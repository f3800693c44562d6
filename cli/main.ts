#!/usr/bin/env bun
import { isatty } from "node:tty";
import { reasonOf } from "../src/toolkit/system-error.ts";
import type { Context, Sink, Source } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { keyboardOf } from "./keyboard.ts";
import { runProgram } from "./program.ts";

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  stdin: createSource(),
  stdout: createSink(process.stdout),
  stderr: createSink(process.stderr),
  keyboard: keyboardOf(process),
  interruptible,
} satisfies Context);

function createSink(stream: NodeJS.WriteStream): Sink {
  // The reader may close its end at any time, as `| head` does. Nobody is left to get an error.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? EXIT.ok);
    if (stream !== process.stderr)
      process.stderr.write(`error: Cannot write the output: ${reasonOf(error)}.\n`);
    process.exit(EXIT.error);
  });
  return {
    isTerminal: stream.isTTY === true,
    // Read anew each time: a window may change its size.
    get columns() {
      return stream.isTTY === true ? stream.columns : undefined;
    },
    get rows() {
      return stream.isTTY === true ? stream.rows : undefined;
    },
    write: (text) => void stream.write(text),
    writeBytes: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/** Leaves standard input alone until a command reads it. */
function createSource(): Source {
  return {
    get isTerminal() {
      return isatty(0);
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
  };
}

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.on("SIGINT", () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  });
  return controller.signal;
}
