import { Command, Option } from "commander";
import { VERSION } from "../src/version.ts";
import { explainChoices, flagsLast, misspeltFlag } from "./arguments.ts";
import { COMMON_FLAGS, findCommand } from "./command.ts";
import { addEntries } from "./commands.ts";
import type { Context } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type Failure, failureAsJson, stackOf, toFailure } from "./failure.ts";
import { toJson } from "./format/output.ts";
import { printableLines } from "./format/printable.ts";
import { styleFor } from "./format/style.ts";
import { formatHelp, overviewOf, pathOf } from "./help/layout.ts";
import { withExamples } from "./help/manual.ts";
import { unknownCommand } from "./other-words.ts";

/** What shells call to complete a command line. */
const COMPLETE = "__complete";

/** Runs one command line and writes to the context's two streams. @returns the exit code */
export async function runProgram(given: readonly string[], context: Context): Promise<ExitCode> {
  if (given[0] === COMPLETE) {
    const { complete } = await import("./complete/complete.ts");
    return await complete(given.slice(1), context, (args) => createProgram(context, args));
  }
  const program = await createProgram(context, given);
  if (given.length === 0) {
    context.stdout.write(overviewOf(program));
    return EXIT.ok;
  }
  const args = flagsLast(program, given);
  try {
    await program.parseAsync([...args], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    // Help and --version were asked for and printed.
    if (error instanceof Error && "exitCode" in error && error.exitCode === 0) return EXIT.ok;
    if (error instanceof Error && "code" in error && error.code === "commander.help") return EXIT.usage;
    const command = commandIn(program, args);
    const failure =
      misspeltFlag(command, args, error) ??
      unknownCommand(command, args, error) ??
      toFailure(error, helpHint(command));
    await report(failure, args, context);
    return failure.exitCode;
  }
}

/** The commands that a command line needs; all without one. */
export async function createProgram(context: Context, args?: readonly string[]): Promise<Command> {
  const program = new Command("svc")
    .description("One address in front of many image and video generators.")
    .usage("<command> [flags]")
    .version(VERSION, "-V, --version", "print the version")
    .addHelpOption(new Option("-h, --help", "explain the command").helpGroup(COMMON_FLAGS))
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureHelp({ formatHelp })
    // Report errors once, below, with their exit code and in the chosen form.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: () => {},
      // `| head` and `| less` show it on the terminal where messages go.
      getOutHelpWidth: () => context.stdout.columns ?? Math.min(80, context.stderr.columns ?? 80),
      getErrHelpWidth: () => context.stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  await addEntries(program, context, args);
  explainChoices(program);
  return withExamples(
    program,
    ["svc serve", "run the service on http://127.0.0.1:8787"],
    ["svc keys create --name laptop", "make an API key"],
    ['svc image "a lighthouse at dusk"', "make a picture"],
  );
}

async function report(failure: Failure, args: readonly string[], context: Context): Promise<void> {
  const { stderr, env } = context;
  // Search the raw arguments for these two flags: the command line may be invalid.
  if (args.includes("--json") || env.SVC_OUTPUT === "json") {
    stderr.write(`${toJson(failureAsJson(failure), stderr)}\n`);
    return;
  }
  const style = await styleFor(context, stderr, { color: !args.includes("--no-color") });
  const mark = stderr.isTerminal ? style.red("✗") : "error:";
  const request = failure.requestId === undefined ? "" : style.dim(` (request ${failure.requestId})`);
  const hint = failure.hint === undefined ? "" : `  ${printableLines(failure.hint)}\n`;
  const stack = stackOf(failure);
  stderr.write(
    `${mark} ${printableLines(failure.message)}${request}\n${hint}${stack === undefined ? "" : `${stack}\n`}`,
  );
}

/** The command that was tried. */
function commandIn(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const word of args) {
    const next = findCommand(command, word);
    if (next === undefined) break;
    command = next;
  }
  return command;
}

/** Says where to find the help of a command. */
const helpHint = (command: Command): string => `See \`${pathOf(command)} --help\`.`;
