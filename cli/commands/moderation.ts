import type { Command } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import { triedForm } from "../../src/domain/moderation/tried-check.ts";
import { suggest } from "../../src/domain/suggest.ts";
import { HARMLESS } from "../client/admin.ts";
import { addCommands, given, type Invocation, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { column } from "../format/table.ts";
import { withExamples } from "../help/manual.ts";
import { readLocalConfig } from "../local.ts";
import { objectsIn, textIn } from "../manage/fields.ts";
import { addManagedCommand, connectAsOperator } from "../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../manage/place.ts";

interface TestFlags extends PlaceFlags {
  readonly check?: string;
}

const COLUMNS = [column.text("CHECK"), column.word("VERDICT"), column.text("RULE", 2), column.number("MS")];

export function defineModeration(moderation: Command, context: Context, [word]: readonly string[]): void {
  addCommands(moderation, context, { test: addTest }, word);
}

function addTest(moderation: Command, context: Context): void {
  const about = "try the checks of the settings on a text: what each says, and which rule it breaks";
  const command = addManagedCommand(moderation, "test <text>", about).option(
    "--check <names>",
    "try only these checks, with commas",
  );
  withExamples(command, 'svc moderation test "a fox in the snow"', [
    "svc moderation test --check slurs -",
    "one check; the text comes from a pipe",
  ]);
  onRun<TestFlags>(command, context, runTest);
}

async function runTest(invocation: Invocation<TestFlags>): Promise<void> {
  const { args, context, options, output } = invocation;
  const text = given(args, 0) === "-" ? await context.stdin.readText() : given(args, 0);
  const names = options.check?.split(",").map((each) => each.trim());
  const form =
    choosePlace(options, context) === "server"
      ? await tryOnServer(invocation, text, names)
      : await tryHere(invocation, text, names);
  const checks = objectsIn(form, "checks");
  if (checks.length === 0)
    throw usage("There are no checks in the settings.", "They go below moderation in svc.yaml.");
  const rows = checks.map((check) => [
    ...[textIn(check, "check"), textIn(check, "verdict"), detailOf(check), Number(check.ms).toFixed(2)],
  ]);
  await output.list(form, COLUMNS, rows);
  const refused = checks.find(isRefusedForm);
  if (refused === undefined) return;
  const isSure = refused.verdict === "refused";
  const [what, code] = isSure ? ["refuses this text", "refused"] : ["cannot tell", "outage"];
  const detail = detailOf(refused);
  throw new Failure(
    EXIT.error,
    code,
    `The check ${textIn(refused, "check")} ${what}${detail === "" ? "" : `: ${detail}`}.`,
  );
}

async function tryHere(
  { options, context, output }: Invocation<TestFlags>,
  text: string,
  names: readonly string[] | undefined,
): Promise<JsonObject> {
  const config = readLocalConfig(options, context);
  const known = config.moderation?.checks.map(({ name }) => name) ?? [];
  for (const name of names ?? []) if (!known.includes(name)) throw unknownCheck(name, known);
  const log = { warn: (_: object, message: string) => output.warn(message) };
  // Loaded late: it imports what only a server needs.
  const { tryModeration } = await import("../../src/app/moderation-local.ts");
  const signal = context.interruptible();
  return triedForm(await tryModeration(config, text, { log, signal, ...(names && { names }) }));
}

async function tryOnServer(
  { options, context, output }: Invocation<TestFlags>,
  text: string,
  names: readonly string[] | undefined,
): Promise<JsonObject> {
  const calls = connectAsOperator(options, context, output);
  return await calls.send(
    "POST",
    "/moderation/test",
    { text, ...(names && { checks: [...names] }) },
    HARMLESS,
  );
}

/** Whether a request with the text would be refused for what a check says. */
function isRefusedForm({ verdict, on_outage: onOutage }: JsonObject): boolean {
  return verdict === "refused" || (verdict === "outage" && onOutage === "refuse");
}

function detailOf(check: JsonObject): string {
  return String(check.reason ?? check.rule ?? "");
}

function unknownCheck(name: string, known: readonly string[]): Failure {
  const near = suggest(name, known);
  const others = known.length === 0 ? "There are none." : `There are ${known.join(", ")}.`;
  return usage(
    `There is no check "${name}" in the settings.`,
    near === undefined ? others : `Did you mean ${near}?`,
  );
}
