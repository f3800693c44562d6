#!/usr/bin/env bun
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { keyboardOf } from "./keyboard.ts";
import { runProgram } from "./program.ts";
import { createSink, createSource } from "./standard-streams.ts";

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  stdin: createSource(),
  stdout: createSink(1, () => process.stdout),
  stderr: createSink(2, () => process.stderr),
  keyboard: keyboardOf(process),
  interruptible,
} satisfies Context);

function interruptible(): AbortSignal {
  const controller = new AbortController();
  process.on("SIGINT", () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  });
  return controller.signal;
}
