import type { Command } from "commander";
import { type ApiKey, keyStatus } from "../../src/domain/access/account.ts";
import { keyForm } from "../../src/domain/access/record-form.ts";
import { CURRENCY, formatAmount } from "../../src/domain/money/money.ts";
import { formatMultiplier } from "../../src/domain/money/multiplier.ts";
import { addCommand, addGroup, given, type Invocation, LOCAL_COMMANDS, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import {
  namingFlags,
  readDuration,
  readSigning,
  readTerms,
  type SigningFlags,
  type TermFlags,
  withTermFlags,
} from "../flags/key-terms.ts";
import { renderFields } from "../format/table.ts";
import { formatDuration, formatTime } from "../format/units.ts";
import { type LocalFlags, type Manage, withLocal, withLocalFlags } from "../local.ts";

const COLUMNS = [
  { title: "ID" },
  { title: "NAME" },
  { title: "ACCOUNT" },
  { title: "KEY" },
  { title: "STATUS" },
  { title: "CREATED" },
  { title: "EXPIRES" },
  { title: "LIMITS" },
];

export function addKeys(program: Command, context: Context): void {
  const keys = addGroup(program, "keys", LOCAL_COMMANDS, "API keys").alias("key");
  addCreate(keys, context);
  addList(keys, context);
  addShow(keys, context);
  addUpdate(keys, context);
  addRotate(keys, context);
  addRevoke(keys, context);
}

interface SecretFlags extends LocalFlags {
  readonly showSecretOnly?: boolean;
}

const readStdin = () => Bun.stdin.text();

function addCreate(keys: Command, context: Context): void {
  const command = withTermFlags(
    withLocalFlags(addCommand(keys, "create", "make a key; it is shown this once"))
      .requiredOption("-n, --name <name>", "what people call it")
      .option("--account <account>", 'id or name of the account it belongs to (default "default")'),
  ).option(
    "--show-secret-only",
    "print the key, a new callback secret on the next line, and nothing else, for scripts",
  );
  type Flags = SecretFlags & TermFlags & SigningFlags & { name: string; account?: string };
  onRun<Flags>(command, context, async (invocation) => {
    const { name, account: owner, ...flags } = invocation.options;
    const terms = { ...readTerms(flags, Date.now()), ...(await readSigning(flags, readStdin)) };
    await withLocal(flags, context, async (manage, folder) => {
      const made = await namingFlags(manage.createKey({ ...terms, name, account: owner }));
      const { record, account } = made;
      showSecrets(
        invocation,
        made,
        `${record.name} (${record.id}) of account ${account.name} created in ${folder}. Shown once:`,
      );
    });
  });
}

function addList(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "list", "list the keys, revoked ones included")).option(
    "--account <account>",
    "id or name of the account whose keys to list",
  );
  onRun<LocalFlags & { account?: string }>(command, context, async ({ options, output }) => {
    await withLocal(options, context, async (manage, folder) => {
      const found = await manage.listKeys(options.account);
      const names = await accountNames(manage);
      const now = Date.now();
      const rows = found.map((key) => [
        key.id,
        key.name,
        names.get(key.accountId) ?? key.accountId,
        key.display,
        keyStatus(key, now),
        formatTime(key.createdAt),
        key.expiresAt === undefined ? "never" : formatTime(key.expiresAt),
        limitsOf(key)
          .map(([name, value]) => `${name} ${value}`)
          .join("; ") || "none",
      ]);
      if (rows.length === 0)
        output.say(`There are no keys in ${folder}. Make one: svc keys create --name NAME`);
      await output.list(
        { keys: found.map((key) => ({ ...keyForm(key, now), account: names.get(key.accountId) })) },
        COLUMNS,
        rows,
      );
    });
  });
}

function addShow(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "show <key>", "show a key and its limits, by id or name; never the secret"),
  );
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.showKey(given(args, 0));
      const account = (await accountNames(manage)).get(key.accountId);
      const now = Date.now();
      output.show({ ...keyForm(key, now), account }, () => renderFields(fieldsOf(key, account, now), output));
    });
  });
}

function addUpdate(keys: Command, context: Context): void {
  const command = withTermFlags(
    withLocalFlags(
      addCommand(keys, "update <key>", "change the limits of a key, by id or name; what is not given stays"),
    ),
  )
    .option(
      "--callback-secret-grace <duration>",
      "how long the callback secret that is replaced signs too, up to 30d",
    )
    .option("--show-secret-only", "print the new callback secret and nothing else, for scripts");
  onRun<SecretFlags & TermFlags & SigningFlags>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const now = Date.now();
    if (options.showSecretOnly === true && options.callbackSecret !== "new") {
      throw usage("--show-secret-only belongs to --callback-secret new, which is not given.");
    }
    const terms = { ...readTerms(options, now), ...(await readSigning(options, readStdin)) };
    if (Object.values(terms).every((term) => term === undefined)) {
      throw usage("There is nothing to change: give at least one limit, such as --rpm 60 or --rpm none.");
    }
    await withLocal(options, context, async (manage) => {
      const changed = await namingFlags(manage.updateKey(given(args, 0), terms));
      const { record: key } = changed;
      const done = `${key.name} is changed. A running server follows within a second.`;
      const account = (await accountNames(manage)).get(key.accountId);
      if (changed.callbackSecret !== undefined) {
        showSecrets(
          invocation,
          { ...changed, account: { name: account } },
          `${done} Callback secret, shown once:`,
        );
        return;
      }
      output.say(`${output.style.green("✓")} Key ${done}`);
      output.show({ ...keyForm(key, now), account }, () => renderFields(fieldsOf(key, account, now), output));
    });
  });
}

function addRotate(keys: Command, context: Context): void {
  const command = withLocalFlags(
    addCommand(keys, "rotate <key>", "give a key another secret, shown this once; id, name and limits stay"),
  )
    .option("--grace <duration>", "how long the old secret is still taken, up to 30d", "0")
    .option("--show-secret-only", "print the key and nothing else, for scripts");
  onRun<SecretFlags & { grace: string }>(command, context, async (invocation) => {
    const { args, options } = invocation;
    const graceMs = readDuration("--grace", options.grace);
    await withLocal(options, context, async (manage) => {
      const made = await namingFlags(manage.rotateKey(given(args, 0), { graceMs }));
      const { name, previous } = made.record;
      const until =
        previous === undefined
          ? "is refused within a second"
          : `is taken until ${formatTime(previous.expiresAt)}`;
      showSecrets(invocation, made, `${name} has another secret; the old one ${until}. Shown once:`);
    });
  });
}

function addRevoke(keys: Command, context: Context): void {
  const command = withLocalFlags(addCommand(keys, "revoke <key>", "refuse a key from now on, by id or name"));
  onRun<LocalFlags>(command, context, async ({ args, options, output }) => {
    await withLocal(options, context, async (manage) => {
      const key = await manage.revokeKey(given(args, 0));
      output.say(
        `${output.style.green("✓")} Key ${key.name} is revoked. A running server refuses it within a second.`,
      );
      output.show(keyForm(key, Date.now()), () => `${key.id}\n`);
    });
  });
}

interface Secrets {
  readonly key?: string | undefined;
  readonly callbackSecret?: string | undefined;
  readonly record: ApiKey;
  readonly account: { readonly name: string | undefined };
}

/** New secrets, each on a line: alone where only they are wanted, else with what they belong to. */
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
  output.say(`${output.style.green("✓")} Key ${done}`);
  const form = { ...keyForm(record, Date.now()), account: account.name };
  output.show({ ...form, key, callback_secret: callbackSecret }, () => lines);
}

async function accountNames(manage: Manage): Promise<Map<string, string>> {
  return new Map((await manage.listAccounts()).map((account) => [account.id, account.name]));
}

function fieldsOf(key: ApiKey, account: string | undefined, now: number): [string, string | undefined][] {
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
    ...limitsOf(key),
  ];
}

/** The limits a key has, and whether it signs, in words. */
function limitsOf({ policy, signsCallbacks }: ApiKey): [name: string, value: string][] {
  const { requestsPerMinute, concurrency, syncWaitSec, aliases, quota, priceMultiplier } = policy;
  const limits: [string, string | undefined][] = [
    ["models", policy.models?.join(", ")],
    ["features", policy.features?.join(", ")],
    ["addresses", policy.allowIps?.join(", ")],
    ["creates a minute", requestsPerMinute?.toString()],
    ["tasks at once", concurrency?.toString()],
    [
      "aliases",
      aliases &&
        Object.entries(aliases)
          .map((pair) => pair.join("="))
          .join(", "),
    ],
    ["compat answers", policy.responseFormat],
    ["longest sync wait", syncWaitSec === undefined ? undefined : formatDuration(syncWaitSec * 1000)],
    ["quota", quota && `${formatAmount(quota.limit)} ${CURRENCY} ${quota.reset}`],
    ["prices", priceMultiplier === undefined ? undefined : `× ${formatMultiplier(priceMultiplier)}`],
    ["callbacks", signsCallbacks ? "signed" : undefined],
  ];
  return limits.filter((limit): limit is [string, string] => limit[1] !== undefined);
}
