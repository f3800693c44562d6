#!/usr/bin/env bun
import { giveWay } from "../src/toolkit/low-priority.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { keyboardOf } from "./keyboard.ts";
import { runProgram } from "./program.ts";
import { createSink, createSource } from "./standard-streams.ts";

/** As that of the threads in which a server reads books. */
const NICENESS = 10;

process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  stdin: createSource(),
  stdout: createSink(1, () => process.stdout),
  stderr: createSink(2, () => process.stderr),
  keyboard: keyboardOf(process),
  giveWay: () => giveWay(NICENESS),
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
