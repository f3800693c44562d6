import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { addCommand, type Invocation, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
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

export function addCheck(providers: Command, context: Context): void {
  const about = "check files that describe providers, and try them against an upstream in trouble";
  const command = withCommonFlags(addCommand(providers, "check <files...>", about));
  withExamples(
    command,
    "svc providers check bildwerk.yaml",
    "svc providers check svc-data/providers/*.yaml --json",
  );
  withNotes(
    command,
    "Checks the shape of each file, the type of every expression and how the parts fit. Then its examples run against an upstream on this machine, and so do troubles: it is busy, fails, refuses the key, loses or cuts an answer, says an unknown word, names another host. Nothing but this machine is reached, and no key is needed.",
    "Errors end it with 1. Warnings do not.",
  );
  withExits(command, "notFound");
  onRun(command, context, async (invocation) => check(invocation, command.args));
}

async function check({ context, output }: Invocation<unknown>, files: readonly string[]): Promise<void> {
  // Loaded late: it imports all that forms need.
  const { checkFormText } = await import("../../../src/app/check-form.ts");
  const findings: Finding[] = [];
  let [examples, troubles] = [0, 0];
  for (const file of files) {
    const checked = await checkFormText(file, await readFormFile(resolve(context.cwd, file), file));
    findings.push(...checked.findings.map((each) => ({ file, ...each })));
    examples += checked.examples;
    troubles = Math.max(troubles, checked.troubles);
  }
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const summary = { examples, troubles };
  output.show({ ok: errors === 0, findings, ...summary }, () => textOf(findings, summary, errors, output));
  if (errors > 0) throw new Failure(EXIT.error, "form_invalid", `${counted(errors, "error")} to mend.`);
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
  { examples, troubles }: { readonly examples: number; readonly troubles: number },
  errors: number,
  { style }: Output,
): string {
  const lines = findings.map(({ file, line, column, severity, message }) => {
    const mark = severity === "warning" ? `${style.yellow("warning")}: ` : "";
    return `${printable(file)}:${line}:${column}: ${mark}${printable(message)}\n`;
  });
  const warnings = findings.length - errors;
  const and = warnings === 0 ? "" : `, ${counted(warnings, "warning")}`;
  const tried = `${counted(examples, "example")}, ${counted(troubles, "trouble")}`;
  const summary = errors > 0 ? counted(findings.length, "finding") : `${style.green("ok")}: ${tried}${and}`;
  return `${lines.join("")}${summary}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
