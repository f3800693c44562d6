import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { reasonOf } from "../../../src/toolkit/system-error.ts";
import { addCommand, type Invocation, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly message: string;
}

interface Flags {
  readonly replay?: string;
}

interface Tried {
  readonly examples: number;
  readonly troubles: number;
  /** Recorded calls that were made again. */
  readonly calls?: number;
}

export function addCheck(providers: Command, context: Context): void {
  const about = "check files that describe providers, and try them against an upstream in trouble";
  const command = withCommonFlags(addCommand(providers, "check [files...]", about)).option(
    "--replay <folder>",
    "have them make again what svc serve --record wrote of their providers; without files, all that come along",
  );
  withExamples(
    command,
    "svc providers check bildwerk.yaml",
    "svc providers check svc-data/providers/*.yaml --json",
    ["svc providers check bildwerk.yaml --replay recordings", "also against what was recorded"],
  );
  withNotes(
    command,
    "Checks the shape of each file, the type of every expression and how the parts fit. Then its examples run against an upstream on this machine, and so do troubles: it is busy, fails, refuses the key, loses or cuts an answer, says an unknown word, names another host. Nothing but this machine is reached, and no key is needed.",
    "With --replay, each recorded call is made again: the form must ask what was asked, and understand the answers as they were understood. A finding names the line of the recording.",
    "Errors end it with 1. Warnings do not.",
  );
  withExits(command, "notFound");
  onRun<Flags>(command, context, async (invocation) => check(invocation, command.args));
}

async function check(invocation: Invocation<Flags>, files: readonly string[]): Promise<void> {
  const { context, output, options } = invocation;
  if (files.length === 0 && options.replay === undefined)
    throw usage("Name the files to check.", "With --replay DIR, the forms that come along need no file.");
  // Loaded late: it imports all that forms need.
  const { checkFormText } = await import("../../../src/app/check-form.ts");
  const findings: Finding[] = [];
  const texts: { file: string; text: string }[] = [];
  let [examples, troubles] = [0, 0];
  for (const file of files) {
    const text = await readFormFile(resolve(context.cwd, file), file);
    texts.push({ file, text });
    const checked = await checkFormText(file, text);
    findings.push(...checked.findings.map((each) => ({ file, ...each })));
    examples += checked.examples;
    troubles = Math.max(troubles, checked.troubles);
  }
  const replayed = options.replay === undefined ? undefined : await replay(invocation, options.replay, texts);
  findings.push(...(replayed?.findings ?? []));
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const summary: Tried = { examples, troubles, ...(replayed && { calls: replayed.calls }) };
  output.show({ ok: errors === 0, findings, ...summary }, () => textOf(findings, summary, errors, output));
  if (errors > 0) throw new Failure(EXIT.error, "form_invalid", `${counted(errors, "error")} to mend.`);
}

async function replay(
  { context }: Invocation<Flags>,
  folder: string,
  texts: readonly { readonly file: string; readonly text: string }[],
) {
  const { checkReplay } = await import("../../../src/app/check-recordings.ts");
  try {
    return await checkReplay({ folder: resolve(context.cwd, folder), name: folder }, texts);
  } catch (error) {
    throw new Failure(EXIT.notFound, "not_found", `${folder} cannot be read: ${reasonOf(error)}.`);
  }
}

/** The text of a file that is to be a form, or the beginning of one that is too long. */
export async function readFormFile(path: string, file: string): Promise<string> {
  const { MOST_FORM_BYTES } = await import("../../../src/app/check-form.ts");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure(EXIT.notFound, "not_found", `There is no file ${file}.`);
  if (!found.isFile()) throw new Failure(EXIT.usage, "usage", `${file} is no file.`);
  // One byte more than a form may have tells that it has too many, and is enough.
  return Bun.file(path)
    .slice(0, MOST_FORM_BYTES + 1)
    .text();
}

function textOf(
  findings: readonly Finding[],
  { examples, troubles, calls }: Tried,
  errors: number,
  { style }: Output,
): string {
  const lines = findings.map(({ file, line, column, severity, message }) => {
    const mark = severity === "warning" ? `${style.yellow("warning")}: ` : "";
    return `${printable(file)}:${line}:${column}: ${mark}${printable(message)}\n`;
  });
  const warnings = findings.length - errors;
  const and = warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
  const replayed = calls === undefined ? "" : `, ${counted(calls, "recorded call")}`;
  const tried = `${counted(examples, "example")}, ${counted(troubles, "trouble")}${replayed}`;
  const summary = errors > 0 ? counted(findings.length, "finding") : `${style.green("ok")}: ${tried}${and}`;
  return `${lines.join("")}${summary}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
