import type { Command } from "commander";
import { keyStatus } from "../../src/domain/access/account.ts";
import { KEY_LIMITS, KEY_TERMS } from "../../src/domain/access/key-policy.ts";
import { keyForm } from "../../src/domain/access/record-form.ts";
import { type NamingModels, unknownModels } from "../../src/domain/access/unknown-models.ts";
import { placeAgain } from "../again.ts";
import { addCommands, given, type Invocation } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { readSigning, SIGNING_FLAGS, type SigningFlags, withSigningFlag } from "../flags/signing.ts";
import { flagNames, namingFlags, readTermFlags, withTermFlags } from "../flags/terms.ts";
import { type FlagValues, readDuration } from "../flags/values.ts";
import type { Output } from "../format/output.ts";
import { column, type Field, renderFields } from "../format/table.ts";
import { termFields } from "../format/terms.ts";
import { formatTime } from "../format/units.ts";
import { withExamples } from "../help/manual.ts";
import { gathered, type ListFlags, readListFlags, sayMore, withListFlags } from "../manage/lists.ts";
import { addManagedCommand, onManagedRun } from "../manage/managed.ts";
import type { Place, ShownKey } from "../manage/port.ts";
import { ownersOf } from "./keys/owners.ts";
import { quotaField, quotaForm, quotaOf } from "./keys/quota.ts";
import { addSnippet } from "./keys/snippet.ts";

const COLUMNS = [
  ...[
    column.id("ID", 3),
    column.text("NAME"),
    column.text("ACCOUNT", 4),
    column.id("KEY", 1),
    column.word("STATUS"),
    column.word("CREATED", 6),
  ],
  ...[column.word("EXPIRES", 2), column.text("LIMITS", 5)],
];
/** The flags of `keys create` and `keys update`, by the fields of the management API. */
const KEY_FLAGS = { ...flagNames(KEY_TERMS), ...SIGNING_FLAGS };

type SecretFlags = { readonly showSecretOnly?: boolean };
type TermFlags = SecretFlags & SigningFlags & FlagValues;

const KEYS = {
  create: addCreate,
  list: addList,
  show: addShow,
  update: addUpdate,
  rotate: addRotate,
  revoke: addRevoke,
  snippet: addSnippet,
};

export function defineKeys(keys: Command, context: Context, [word]: readonly string[]): void {
  addCommands(keys, context, KEYS, word);
}

function addCreate(keys: Command, context: Context): void {
  const command = addManagedCommand(keys, "create", "create a key and show it once")
    .requiredOption("-n, --name <name>", "what people call it")
    .option("--account <account>", 'id or name of the account it belongs to (default "default")');
  withSigningFlag(withTermFlags(command, KEY_TERMS)).option(
    "--show-secret-only",
    "print the key, a new callback secret on the next line, and nothing else, for scripts",
  );
  withExamples(
    command,
    "svc keys create --name laptop",
    "svc keys create --name web --expires 90d --models 'sandbox-*' --rpm 60",
    "export SVC_API_KEY=$(svc keys create --name ci --show-secret-only)",
  );
  type Flags = TermFlags & { name: string; account?: string };
  onManagedRun<Flags>(command, context, async ({ open, ...invocation }) => {
    const { name, account: owner, ...flags } = invocation.options;
    const terms = { ...readTermFlags(KEY_TERMS, flags, Date.now()), ...(await readSigning(flags, context)) };
    const place = await open();
    const made = await namingFlags(place.manage.createKey({ ...terms, name, account: owner }), KEY_FLAGS);
    const { record, account } = made;
    const done = `${record.name} (${record.id}) of account ${account.name} created ${place.at}.`;
    showSecrets(invocation, made, `${done} Shown once:`);
    await warnOfUnknown(invocation.output, terms, place);
  });
}

function addList(keys: Command, context: Context): void {
  const description = "list the keys, revoked ones included, the oldest first";
  const command = addManagedCommand(keys, "list", description).option(
    "--account <account>",
    "list only the keys of this account, by id or name",
  );
  withListFlags(command, "keys");
  withExamples(
    command,
    "svc keys list",
    "svc keys list --newest-first --limit 20",
    "svc keys list --plain | cut -f 1,2",
  );
  onManagedRun<ListFlags & { account?: string }>(command, context, async ({ options, output, open }) => {
    const query = readListFlags(options);
    const { manage, at } = await open();
    const { items: found, next } = await gathered(manage.listKeys({ ...query, account: options.account }));
    const names = await ownersOf(manage, found);
    const now = Date.now();
    const rows = found.map((key) => [
      key.id,
      key.name,
      names.get(key.accountId) ?? key.accountId,
      key.display,
      keyStatus(key, now),
      formatTime(key.createdAt),
      key.expiresAt === undefined ? "never" : formatTime(key.expiresAt),
      limitFields(key)
        .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
        .join("; ") || "none",
    ]);
    if (rows.length === 0 && query.after === undefined)
      output.say(`There are no keys ${at}. Make one: svc keys create --name NAME${placeAgain(command)}`);
    const forms = found.map((key) => ({ ...keyForm(key, now), account: names.get(key.accountId) }));
    await output.list({ keys: forms, next }, COLUMNS, rows);
    sayMore(output, command, next);
  });
}

function addShow(keys: Command, context: Context): void {
  const description = "show a key and its limits, by id or name, without its secret";
  const command = addManagedCommand(keys, "show <key>", description);
  withExamples(command, "svc keys show web");
  onManagedRun(command, context, async ({ args, output, open }) => {
    const { manage } = await open();
    const key = await manage.showKey(given(args, 0));
    const [names, now] = [await ownersOf(manage, [key]), Date.now()];
    const quota = await quotaOf(manage, key, now);
    const account = names.get(key.accountId);
    output.show({ ...keyForm(key, now), account, ...quotaForm(quota) }, () =>
      renderFields([...fieldsOf(key, account, now), quotaField(quota)], output),
    );
  });
}

function addUpdate(keys: Command, context: Context): void {
  const description = "change limits of a key, by id or name; others stay unchanged";
  const command = addManagedCommand(keys, "update <key>", description);
  withSigningFlag(withTermFlags(command, KEY_TERMS))
    .option(
      "--callback-secret-grace <duration>",
      "how long the replaced callback secret signs too, up to 30d",
    )
    .option("--show-secret-only", "print the new callback secret and nothing else, for scripts");
  withExamples(
    command,
    "svc keys update web --rpm 120 --concurrency 4",
    ["svc keys update web --rpm none --models any", "lift two limits"],
    "svc keys update web --callback-secret new --callback-secret-grace 24h",
  );
  onManagedRun<TermFlags>(command, context, async ({ open, ...invocation }) => {
    const { args, options, output } = invocation;
    const terms = await readTerms(options, context);
    const place = await open();
    const { manage, at } = place;
    // Before the change, because nothing may fail between making a new secret and showing it.
    const names = await ownersOf(manage, [await manage.showKey(given(args, 0))]);
    const changed = await namingFlags(manage.updateKey(given(args, 0), terms), KEY_FLAGS);
    const { record: key } = changed;
    const done = `${key.name} is changed ${at}. A running server follows within a second.`;
    if (changed.callbackSecret !== undefined) {
      const shown = { ...changed, account: { name: names.get(key.accountId) } };
      showSecrets(invocation, shown, `${done} Callback secret, shown once:`);
    } else {
      output.done(`Key ${done}`);
      showKey(output, key, names);
    }
    await warnOfUnknown(output, terms, place);
  });
}

/** @throws Failure (exit 2) for flags that cannot be read, or none */
async function readTerms(flags: TermFlags, context: Context) {
  if (flags.showSecretOnly === true && flags.callbackSecret !== "new") {
    throw usage("--show-secret-only belongs to --callback-secret new, which is not given.");
  }
  const terms = {
    ...readTermFlags(KEY_TERMS, flags, Date.now()),
    ...(await readSigning(flags, context)),
  };
  if (Object.values(terms).some((term) => term !== undefined)) return terms;
  throw usage("There is nothing to change: give at least one limit, such as --rpm 60 or --rpm none.");
}

function addRotate(keys: Command, context: Context): void {
  const description = "give a key a new secret and show it once; id, name and limits stay";
  const command = addManagedCommand(keys, "rotate <key>", description)
    .option("--grace <duration>", "how long the old secret stays valid, up to 30d", "0")
    .option("--show-secret-only", "print the key and nothing else, for scripts");
  withExamples(command, ["svc keys rotate web --grace 24h", "the old secret works for a day more"]);
  onManagedRun<SecretFlags & { grace: string }>(command, context, async ({ open, ...invocation }) => {
    const graceMs = readDuration("--grace", invocation.options.grace);
    const { manage, at } = await open();
    const rotated = manage.rotateKey(given(invocation.args, 0), { graceMs });
    const made = await namingFlags(rotated, { grace_seconds: "--grace" });
    const { name, previous } = made.record;
    const until =
      previous === undefined
        ? "is refused within a second"
        : `is taken until ${formatTime(previous.expiresAt)}`;
    showSecrets(invocation, made, `${name} has another secret ${at}; the old one ${until}. Shown once:`);
  });
}

function addRevoke(keys: Command, context: Context): void {
  const description = "refuse a key from now on, by id or name";
  const command = asksFirst(addManagedCommand(keys, "revoke <key>", description));
  withExamples(command, "svc keys revoke web", ["svc keys revoke web --yes", "in a script"]);
  onManagedRun(command, context, async (invocation) => {
    const { args, output, open } = invocation;
    const { manage, at } = await open();
    await confirm(invocation, `Revoke key ${given(args, 0)} ${at}? A revoked key never becomes valid again.`);
    const key = await manage.revokeKey(given(args, 0));
    output.done(`Key ${key.name} is revoked ${at}. A running server refuses it within a second.`);
    output.show(keyForm(key, Date.now()), () => `${key.id}\n`);
  });
}

/** Says which models a key was given that are none. They may still come, with a provider or a file of the operator's. */
async function warnOfUnknown(output: Output, terms: NamingModels, { prices }: Place): Promise<void> {
  if (terms.models == null && terms.aliases == null) return;
  // The key is made and shown. A place that does not tell its models is no reason to fail now.
  const all = await prices()
    .then((opened) => opened.list())
    .catch(() => undefined);
  if (all === undefined) return;
  const ids = all.map(({ model }) => model.id);
  for (const text of unknownModels(terms, ids)) output.warn(text);
}

interface Secrets {
  readonly key?: string | undefined;
  readonly callbackSecret?: string | undefined;
  readonly record: ShownKey;
  readonly account: { readonly name: string | undefined };
}

/** Prints new secrets, one on each line. Prints nothing else with --show-secret-only, and what was done without it. */
function showSecrets(
  { context, output, options }: Invocation<SecretFlags>,
  { key, callbackSecret, record, account }: Secrets,
  done: string,
): void {
  const lines = [key, callbackSecret].map((secret) => (secret === undefined ? "" : `${secret}\n`)).join("");
  if (options.showSecretOnly === true) {
    context.stdout.write(lines);
    return;
  }
  output.done(`Key ${done}`);
  const form = { ...keyForm(record, Date.now()), account: account.name };
  output.show({ ...form, key, callback_secret: callbackSecret }, () => lines);
}

function showKey(output: Output, key: ShownKey, names: ReadonlyMap<string, string>): void {
  const now = Date.now();
  const account = names.get(key.accountId);
  output.show({ ...keyForm(key, now), account }, () => renderFields(fieldsOf(key, account, now), output));
}

/** A key in names and values, for people. */
function fieldsOf(key: ShownKey, account: string | undefined, now: number): Field[] {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : formatTime(ms));
  const { previous } = key;
  return [
    ["id", key.id],
    ["name", key.name],
    ["account", account === undefined ? key.accountId : `${account} (${key.accountId})`],
    ["key", key.display],
    [
      "old key",
      previous && previous.expiresAt > now
        ? `${previous.display} until ${time(previous.expiresAt)}`
        : undefined,
    ],
    ["status", keyStatus(key, now)],
    ["created", time(key.createdAt)],
    ["expires", time(key.expiresAt) ?? "never"],
    ["revoked", time(key.revokedAt)],
    ...limitFields(key),
  ];
}

/** The limits of a key, and whether it signs callbacks. */
function limitFields({ policy, signsCallbacks }: ShownKey): Field[] {
  return [
    ...Object.values(termFields(KEY_LIMITS, policy)),
    ["callbacks", signsCallbacks ? "signed" : undefined],
  ];
}
