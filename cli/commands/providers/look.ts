import type { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, toFailure, unexpectedAnswer } from "../../failure.ts";
import { printableLines } from "../../format/printable.ts";
import {
  PROVIDER_COLUMNS,
  providerFields,
  providerRow,
  TEST_COLUMNS,
  testRow,
} from "../../format/provider-view.ts";
import { renderFields } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { addManagedCommand } from "../../manage/managed.ts";
import type { PlaceFlags } from "../../manage/place.ts";
import { openProviderPlace, type ProviderPlace } from "../../manage/providers.ts";
import { withUnusableFiles } from "./unusable.ts";

export function addList(providers: Command, context: Context): void {
  const command = addManagedCommand(providers, "list", "list the providers that are switched on").option(
    "-a, --all",
    "every provider, and what each one needs to be switched on",
  );
  withExamples(command, "svc providers list", "svc providers list --all --json");
  withNotes(
    command,
    "On a data folder it shows what `svc serve` would have here, with these variables and this svc.yaml.",
  );
  onRun<PlaceFlags & { all?: boolean }>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const { providers: every, problems } = await (await openProviderPlace(invocation)).list();
    for (const problem of problems) output.say(problem);
    const shown = every.filter(({ available }) => options.all === true || available === true);
    await output.list(shown, PROVIDER_COLUMNS, shown.map(providerRow));
    const hidden = every.length - shown.length;
    if (hidden > 0) output.say(`${hidden} more are switched off; --all lists them.`);
  });
}

export function addShow(providers: Command, context: Context): void {
  const about = "show all that is known of a provider; of keys the names of their variables";
  const command = addManagedCommand(providers, "show <provider>", about).option(
    "--yaml",
    "print the file that describes it",
  );
  withExamples(command, "svc providers show bfl", [
    "svc providers show bfl --yaml >mine.yaml",
    "to begin a file of your own with it",
  ]);
  onRun<PlaceFlags & { yaml?: boolean }>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const id = given(args, 0);
    const place = await openProviderPlace(invocation);
    if (options.yaml !== true) {
      const provider = await readProvider(place, id);
      return output.show(provider, () => renderFields(providerFields(provider), output));
    }
    const provider = await readProvider(place, id, true);
    if (provider.code === true)
      throw new Failure(EXIT.error, "no_form", `${id} is code, and described by no file.`);
    const { text } = provider;
    if (typeof text !== "string") throw unexpectedAnswer("The server gives no text of this form.");
    output.show({ id, text }, () => printableLines(text));
  });
}

export function addTest(providers: Command, context: Context): void {
  const about = "prove keys, regions and balances by calls that make nothing and cost nothing";
  const command = addManagedCommand(providers, "test [provider]", about).option(
    "--account <name>",
    "only this account, where the provider has several",
  );
  withExamples(command, ["svc providers test", "all that are switched on"], "svc providers test bfl");
  withNotes(
    command,
    "It takes 10 seconds at most. It ends with 1 when an account is refused, has no money left or gets no answer. What a ComfyUI server or a web UI lacks for models, such as a node or a checkpoint, is told too.",
  );
  onRun<PlaceFlags & { account?: string }>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const place = await openProviderPlace(invocation);
    const [only] = args;
    const every = only === undefined ? (await place.list()).providers : [await readProvider(place, only)];
    const on = every.filter(({ available }) => available === true);
    if (only !== undefined && on.length === 0) throw switchedOff(only, every[0]);
    const { account } = options;
    const chosen = only !== undefined || account === undefined ? on : havingAccount(on, account);
    const tests = (await Promise.all(chosen.map(({ id }) => place.test(String(id), account)))).flat();
    await output.list({ ok: tests.every(isWell), accounts: tests }, TEST_COLUMNS, tests.map(testRow));
    for (const { lane, lacks } of tests)
      for (const line of Array.isArray(lacks) ? lacks : []) output.say(`${String(lane)}: ${String(line)}`);
    const failed = tests.filter((test) => !isWell(test)).length;
    if (failed === 0) return;
    const message = `${failed} of ${tests.length} accounts cannot be used.`;
    throw new Failure(EXIT.error, "account_unusable", message);
  });
}

/** @throws Failure (exit 5), with the files that cannot be used, where there is no such provider */
async function readProvider(place: ProviderPlace, id: string, withText = false): Promise<JsonObject> {
  try {
    return await place.read(id, withText);
  } catch (error) {
    const failure = toFailure(error, "");
    if (failure.exitCode !== EXIT.notFound) throw error;
    throw withUnusableFiles(failure, id, (await place.list()).problems);
  }
}

function havingAccount(providers: readonly JsonObject[], account: string): readonly JsonObject[] {
  const having = providers.filter(
    ({ accounts }) =>
      Array.isArray(accounts) && accounts.some((each) => isJsonObject(each) && each.name === account),
  );
  if (having.length > 0) return having;
  const message = `No provider that is switched on has an account "${account.slice(0, 80)}".`;
  throw new Failure(EXIT.notFound, "not_found", message, {
    hint: "`svc providers list` shows the accounts.",
  });
}

function isWell({ result }: JsonObject): boolean {
  return result === "ok" || result === "untested";
}

function switchedOff(id: string, provider: JsonObject = {}): Failure {
  const needs = Array.isArray(provider.needs) ? provider.needs.join(" and ") : "";
  return new Failure(EXIT.error, "switched_off", `${id} is switched off. It needs ${needs}.`);
}
