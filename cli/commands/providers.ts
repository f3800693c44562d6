import type { Command } from "commander";
import type { KeyedProvider, SecretName } from "../../src/app/kept-accounts.ts";
import type { LaneId, ProviderId } from "../../src/domain/ids.ts";
import { DEFAULT_ACCOUNT, isAccountName, laneOf } from "../../src/domain/lane.ts";
import { addCommands, given, type Invocation, onRun } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { addManagedCommand } from "../manage/managed.ts";
import type { PlaceFlags } from "../manage/place.ts";
import { askSecret } from "../secret-input.ts";
import { addCheck } from "./providers/check.ts";
import { addDiscover } from "./providers/discover.ts";
import { addInit } from "./providers/init.ts";
import type { KeyPlace } from "./providers/key-place.ts";
import { addList, addShow, addTest } from "./providers/look.ts";
import { addTry } from "./providers/try.ts";

interface Flags extends PlaceFlags {
  readonly account: string;
  readonly keyStdin?: boolean;
}

const PROVIDERS = {
  ...{ list: addList, show: addShow, test: addTest, discover: addDiscover },
  ...{ add: addAdd, remove: addRemove, init: addInit, check: addCheck, try: addTry },
};

export function defineProviders(providers: Command, context: Context, [word]: readonly string[]): void {
  addCommands(providers, context, PROVIDERS, word);
}

function addAccountCommand(providers: Command, name: string, about: string): Command {
  return addManagedCommand(providers, `${name} <provider>`, about).option(
    "--account <name>",
    "the account, where a provider has several",
    DEFAULT_ACCOUNT,
  );
}

function addAdd(providers: Command, context: Context): void {
  const about = "keep the key of a provider's account, sealed in the data folder";
  const command = addAccountCommand(providers, "add", about).option(
    "--key-stdin",
    "read the key from standard input instead of asking for it; of several secrets each on a line",
  );
  withExamples(
    command,
    ["svc providers add fal", "asks for the key, and shows nothing of it"],
    ["svc providers add fal --account second --key-stdin", "takes it from a pipe"],
  );
  withNotes(
    command,
    "A key in the provider's variable or in an account of svc.yaml counts before a kept one.",
  );
  withExits(command, "interrupted");
  onRun<Flags>(command, context, add);
}

async function add(invocation: Invocation<Flags>): Promise<void> {
  const { context, output, options } = invocation;
  const { provider, lane, place } = await target(invocation);
  if (provider.kinds.length === 0)
    throw usage(`${provider.id} has no key to keep.`, `Its settings are in \`svc help settings\`.`);
  const secrets =
    options.keyStdin === true
      ? await readSecrets(provider, invocation.context)
      : await askSecrets(provider, invocation);
  const given = Object.fromEntries(secrets.map(({ name, secret }) => [name, secret]));
  const follows = await place.keep(lane, given);
  output.done(`Kept the key of ${lane}, sealed ${place.at}. ${follows}`);
  const counts = lane === provider.id ? secrets.find(({ variable }) => isSet(context, variable)) : undefined;
  if (counts !== undefined && place.isHere)
    output.warn(`${counts.variable} is set, and counts before it where the server sees it.`);
  if (output.mode === "json") output.show(formOf(provider, options, place), () => "");
}

function addRemove(providers: Command, context: Context): void {
  const command = asksFirst(
    addAccountCommand(providers, "remove", "remove the kept key of a provider's account"),
  );
  withExamples(command, "svc providers remove fal", [
    "svc providers remove fal --account second --yes",
    "in a script",
  ]);
  withNotes(command, "Tasks that the account has under way wait for it, until their deadline.");
  withExits(command, "interrupted");
  onRun<Flags>(command, context, async (invocation) => {
    const { output, options } = invocation;
    const { provider, lane, place } = await target(invocation);
    await confirm(invocation, `Remove the key of ${lane} that is kept ${place.at}?`);
    output.done(`Removed the key of ${lane}. ${await place.forget(lane)}`);
    if (output.mode === "json") output.show(formOf(provider, options, place), () => "");
  });
}

function formOf({ id }: KeyedProvider, { account }: Flags, { named }: KeyPlace) {
  return { provider: id, account, ...named };
}

/** The account that a command is about, and where its key is kept. */
async function target(invocation: Invocation<Flags>) {
  const { args, options } = invocation;
  if (!isAccountName(options.account))
    throw usage("--account takes up to 32 lower-case letters, digits, - and _.");
  const { openKeyPlace } = await import("./providers/key-place.ts");
  const place = await openKeyPlace(invocation);
  const provider = await place.find(given(args, 0));
  // It is one of the providers.
  const lane: LaneId = laneOf(provider.id as ProviderId, options.account);
  return { provider, lane, place };
}

interface GivenSecret extends SecretName {
  readonly secret: string;
}

/** Asks for the secrets of the usual kind of account. Where the first is left empty, for those of the next kind. */
async function askSecrets(
  provider: KeyedProvider,
  { context, options }: Invocation<Flags>,
): Promise<GivenSecret[]> {
  const otherwise = "Give --key-stdin, and the key on standard input.";
  if (options.noInput === true) throw usage("Nobody can be asked here.", otherwise);
  for (const [index, kind] of provider.kinds.entries()) {
    const next = provider.kinds[index + 1]?.map(({ name }) => name).join(" and ");
    const given: GivenSecret[] = [];
    for (const secret of kind) {
      const isOptional = given.length === 0 && next !== undefined;
      const more = isOptional ? `; press Enter to give ${next} instead` : "";
      const question = `${labelOf(secret)} of ${provider.title} (not shown${more}):`;
      const text = await askSecret(context, question, otherwise);
      if (text === "" && isOptional) break;
      given.push(checked(secret, text));
    }
    if (given.length === kind.length) return given;
  }
  throw usage("There is no key.", otherwise);
}

/** Reads the secrets of the kind of account that has as many as there are lines. */
async function readSecrets({ kinds }: KeyedProvider, { stdin }: Context): Promise<GivenSecret[]> {
  const text = (await stdin.readText()).trim();
  const single = kinds.find((kind) => kind.length === 1)?.[0];
  const lines = text.split("\n").map((line) => line.trim());
  const kind = kinds.find((each) => each.length === lines.length);
  if (kind !== undefined && text !== "") return kind.map((secret, i) => checked(secret, lines[i] ?? ""));
  // A private key has many lines.
  if (single !== undefined && text !== "") return [checked(single, text)];
  const wanted = kinds.map((each) => each.map(({ name }) => name).join(" and ")).join(", or ");
  throw usage(`Standard input must hold ${wanted}, each on a line.`);
}

/** The refusal does not show what was given: it may be a key with a typing error. */
function checked(secret: SecretName, text: string): GivenSecret {
  const parsed = secret.parse(text);
  if (parsed.ok) return { ...secret, secret: parsed.value };
  throw usage(text === "" ? `There is no ${secret.name}.` : `${labelOf(secret)} must be ${parsed.expected}.`);
}

function labelOf({ name }: SecretName): string {
  return name === "key" ? "API key" : name;
}

function isSet({ env }: Context, variable: string | undefined): boolean {
  return variable !== undefined && (env[variable] ?? "").trim() !== "";
}
