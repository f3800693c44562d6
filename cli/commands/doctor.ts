import { resolve } from "node:path";
import type { Command } from "commander";
import type { Examined, Finding } from "../../src/app/doctor/doctor.ts";
import { lookAtServer } from "../client/look.ts";
import { clientOptions } from "../client/remote.ts";
import { type Invocation, onRun, withCommonFlags } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { readServerSetting } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { withTokenFlags } from "../flags/credentials.ts";
import { givenFlags, withServeFlags } from "../flags/settings.ts";
import { type Output, widthOf } from "../format/output.ts";
import { printableLines } from "../format/printable.ts";
import { renderTsv } from "../format/table.ts";
import { wrapped } from "../format/wrapped.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { type LocalFlags, withLocalFlags } from "../local.ts";

interface DoctorFlags extends LocalFlags {
  readonly server?: string;
  readonly token?: string;
  readonly bundle?: string;
  readonly log?: string;
  readonly fix?: boolean;
}

/** The flags that are none of a server's settings. */
const OWN_FLAGS = ["config", "server", "token", "tokenFile", "bundle", "log", "fix"];

export function defineDoctor(command: Command, context: Context): void {
  withTokenFlags(
    withLocalFlags(withCommonFlags(command)).option("-s, --server <url>", "look at this running server, too"),
  )
    .option(
      "--bundle <file>",
      "write what was seen into a file to send to somebody; no keys, tokens or prompts are in it",
    )
    .option(
      "--fix",
      "put right what is safe: rights of the data folder, a missing one, what a killed server left, the database's log; says each before, and asks",
    )
    .option("--log <file>", "a file with the server's log, whose last lines belong into the bundle");
  withServeFlags(command);
  asksFirst(command);
  withExamples(command, "svc doctor", "svc doctor --data-dir /var/lib/svc --json", "svc doctor --fix", [
    "svc doctor --bundle report.json --log /var/log/svc.log",
    "a report to send to somebody",
  ]);
  withNotes(
    command,
    "Changes nothing without --fix, and works beside a running server and without one. Providers are asked what keys are worth, with calls that cost nothing.",
    "Takes every flag of `svc serve`: it looks at what a server that is started with them would have.",
  );
  onRun<DoctorFlags>(command, context, (invocation) => runDoctor(command, invocation));
}

async function runDoctor(command: Command, invocation: Invocation<DoctorFlags>): Promise<void> {
  const { context, options, output } = invocation;
  const { env, cwd } = context;
  const { bundle, log, config: file } = options;
  if (log !== undefined && bundle === undefined) throw usage("--log belongs to --bundle.");
  const flags = Object.fromEntries(
    Object.entries(givenFlags(command)).filter(([name]) => !OWN_FLAGS.includes(name)),
  );
  // Loaded late: it has most of the service.
  const { examine } = await import("../../src/app/doctor/doctor.ts");
  const look = () => examine({ flags, env, cwd, file });
  const first = await look();
  const fixed = options.fix === true ? await putRight(first, invocation) : undefined;
  const here = fixed?.some(({ error }) => error === null) === true ? await look() : first;
  const examined: Examined = {
    ...here,
    findings: [...here.findings, ...(await afar(options, context, output))],
  };
  const { findings } = examined;
  const { findingForm, writeReport } = await import("../../src/app/doctor/report.ts");
  if (bundle !== undefined) {
    const path = resolve(cwd, bundle);
    writeReport(path, examined, { env, logFile: log === undefined ? undefined : resolve(cwd, log) });
    output.done(`The report is in ${path}. Read it before you send it.`);
  }
  const form = { checks: findings.map(findingForm), ...(fixed && { fixed }) };
  output.show(form, () => textOf(findings, output, widthOf(context.stdout)));
  const errors = findings.filter(({ status }) => status === "error").length;
  const warnings = findings.filter(({ status }) => status === "warn").length;
  const summary = `${counted(errors, "error")}, ${counted(warnings, "warning")}`;
  if (errors > 0) throw new Failure(EXIT.error, "checks_failed", `${summary}.`);
  output.say(warnings > 0 ? `${summary}.` : "Everything is well.");
}

/** The outcome of the repairs. */
interface Fixed {
  readonly id: string;
  readonly what: string;
  readonly error: string | null;
}

/** Says what can be repaired without a risk, asks, and does it. A failed repair prevents no other. */
async function putRight(examined: Examined, invocation: Invocation<DoctorFlags>): Promise<Fixed[]> {
  const { output } = invocation;
  const { findRepairs } = await import("../../src/app/doctor/repairs.ts");
  const repairs = findRepairs(examined);
  if (repairs.length === 0) {
    output.say("There is nothing that --fix puts right.");
    return [];
  }
  for (const { what } of repairs) output.say(`To do: ${what}`);
  await confirm(invocation, repairs.length === 1 ? "Do this?" : `Do these ${repairs.length} things?`);
  const fixed: Fixed[] = [];
  for (const { id, what, run } of repairs) {
    try {
      await run();
      output.done(what);
      fixed.push({ id, what, error: null });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      output.warn(`Not done: ${what} ${reason}`);
      fixed.push({ id, what, error: reason });
    }
  }
  return fixed;
}

/** What a server says, where one is named. A token of a profile is for administration alone. */
async function afar(options: DoctorFlags, context: Context, output: Output): Promise<readonly Finding[]> {
  if (options.server === undefined) return [];
  const token = options.token ?? (context.env.SVC_MANAGEMENT_TOKEN || undefined);
  return lookAtServer(readServerSetting(options, context), token, clientOptions({}, context, output));
}

function textOf(findings: readonly Finding[], { mode, style }: Output, width: number): string {
  if (mode !== "pretty")
    return renderTsv(findings.map(({ id, status, message, fix = "" }) => [status, id, message, fix]));
  const marks = { ok: style.green("✓"), warn: style.yellow("!"), error: style.red("✗") };
  return findings
    .map(({ id, status, message, fix }) => {
      const [first = "", ...more] = wrapped(`${id}  ${printableLines(message)}`, width - 2);
      const line = [`${marks[status]} ${style.bold(id)}${first.slice(id.length).trimEnd()}`, ...more].join(
        "\n  ",
      );
      // Not wrapped: it may be a command to copy.
      return fix === undefined ? `${line}\n` : `${line}\n  fix: ${printableLines(fix)}\n`;
    })
    .join("");
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
