import type { Command } from "commander";
import type { TriedCheck } from "../../src/app/moderation-local.ts";
import { suggest } from "../../src/domain/suggest.ts";
import { addCommand, addCommands, given, type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { column } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../local.ts";

interface TestFlags extends LocalFlags {
  readonly check?: string;
}

const COLUMNS = [column.text("CHECK"), column.word("VERDICT"), column.text("RULE", 2), column.number("MS")];

export function defineModeration(moderation: Command, context: Context, [word]: readonly string[]): void {
  addCommands(moderation, context, { test: addTest }, word);
}

function addTest(moderation: Command, context: Context): void {
  const about = "try the checks of the settings on a text: what each says, and which rule it breaks";
  const command = withLocalFlags(withCommonFlags(addCommand(moderation, "test <text>", about))).option(
    "--check <names>",
    "try only these checks, with commas",
  );
  withExamples(command, 'svc moderation test "a fox in the snow"', [
    "svc moderation test --check slurs -",
    "one check; the text comes from a pipe",
  ]);
  onRun<TestFlags>(command, context, runTest);
}

async function runTest({ args, context, options, output }: Invocation<TestFlags>): Promise<void> {
  const text = given(args, 0) === "-" ? await Bun.stdin.text() : given(args, 0);
  const config = readLocalConfig(options, context);
  const known = config.moderation?.checks.map(({ name }) => name) ?? [];
  const names = options.check?.split(",").map((each) => each.trim());
  for (const name of names ?? []) if (!known.includes(name)) throw unknownCheck(name, known);
  if (known.length === 0)
    throw usage("There are no checks in the settings.", "They go below moderation in svc.yaml.");
  const log = { warn: (_: object, message: string) => output.warn(message) };
  // Loaded late: it imports what only a server needs.
  const { tryModeration } = await import("../../src/app/moderation-local.ts");
  const signal = context.interruptible();
  const tried = await tryModeration(config, text, { log, signal, ...(names && { names }) });
  const refused = tried.find(isRefused);
  const rows = tried.map(({ name, verdict, ms }) => [name, verdict.kind, detailOf(verdict), ms.toFixed(2)]);
  const verdict = refused === undefined ? "allowed" : refused.verdict.kind;
  await output.list({ verdict, checks: tried.map(formOf) }, COLUMNS, rows);
  if (refused === undefined) return;
  const [what, code] =
    refused.verdict.kind === "refused" ? ["refuses this text", "refused"] : ["cannot tell", "outage"];
  const detail = detailOf(refused.verdict);
  throw new Failure(
    EXIT.error,
    code,
    `The check ${refused.name} ${what}${detail === "" ? "" : `: ${detail}`}.`,
  );
}

/** Whether a request with the text would be refused for what a check says. */
function isRefused({ verdict, onOutage }: TriedCheck): boolean {
  return verdict.kind === "refused" || (verdict.kind === "outage" && onOutage === "refuse");
}

function detailOf(verdict: TriedCheck["verdict"]): string {
  if (verdict.kind === "outage") return verdict.reason;
  return verdict.kind === "refused" ? (verdict.rule ?? "") : "";
}

function formOf({ name, verdict, onOutage, ms }: TriedCheck) {
  const { kind } = verdict;
  const rule = kind === "refused" ? (verdict.rule ?? null) : null;
  const reason = kind === "outage" ? verdict.reason : null;
  return {
    check: name,
    verdict: kind,
    rule,
    reason,
    on_outage: onOutage,
    ms: Math.round(ms * 1_000) / 1_000,
  };
}

function unknownCheck(name: string, known: readonly string[]): Failure {
  const near = suggest(name, known);
  const others = known.length === 0 ? "There are none." : `There are ${known.join(", ")}.`;
  return usage(
    `There is no check "${name}" in the settings.`,
    near === undefined ? others : `Did you mean ${near}?`,
  );
}
