import { resolve } from "node:path";
import type { Command } from "commander";
import type { ImportPlan } from "../../src/app/import-local.ts";
import type { ImportSource } from "../../src/app/import-sources.ts";
import {
  addCommand,
  addCommands,
  collect,
  given,
  type Invocation,
  onRun,
  withCommonFlags,
} from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { column } from "../format/table.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../local.ts";
import { keepNewKeys } from "./import/new-keys.ts";

interface Flags extends LocalFlags {
  readonly apply?: boolean;
  readonly source?: string;
  readonly map?: readonly string[];
  readonly newKeys?: string;
  readonly spend?: string;
  readonly keys?: string;
  readonly file?: string;
}

const COLUMNS = [
  ...[column.word("WHAT"), column.text("THERE"), column.text("HERE", 3), column.word("DOES")],
  column.text("NOTE", 1),
];
const DOES = { bring: "comes", here: "is here", leave: "stays there" } as const;
const SOURCE = /^[a-z0-9][a-z0-9_.-]{0,39}$/;

const IMPORTS = {
  litellm: addLitellm,
  "new-api": addNewApi,
  "one-api": addOneApi,
  "openai-env": addOpenAiEnv,
};

export function defineImport(command: Command, context: Context, [word]: readonly string[]): void {
  addCommands(command, context, IMPORTS, word);
}

function addImport(group: Command, usageText: string, about: string): Command {
  const command = withCommonFlags(withLocalFlags(addCommand(group, usageText, about)));
  return command
    .option("--apply", "do what the plan says; without it nothing changes")
    .option("--source <name>", "what to call it, to tell two of a kind apart; the same name each time")
    .option(
      "--map <name=model>",
      "a name of theirs, and the model here that it stands for; repeatable",
      collect,
    )
    .option(
      "--new-keys <file>",
      "where to write keys that get a new secret, as JSON; needed where there are some",
    );
}

function addLitellm(group: Command, context: Context): void {
  const about = "bring models, keys, budgets and providers' keys of a LiteLLM proxy";
  const command = addImport(group, "litellm <file>", about)
    .option("--spend <address>", "its database, postgres://…, or env:NAME for the variable that holds that")
    .option(
      "--keys <file>",
      "in place of the database: the answer of its /key/list?return_full_object=true&size=100; of several pages, a list of the answers",
    );
  withExamples(
    command,
    ["svc import litellm config.yaml --spend env:DATABASE_URL", "the plan"],
    "svc import litellm config.yaml --spend env:DATABASE_URL --apply",
    "svc import litellm config.yaml --keys list.json --map art=gpt-image-2",
  );
  withNotes(
    command,
    "LiteLLM keeps hashes of keys that are hashed in the same way here: clients keep their keys.",
  );
  run(command, context, ({ args, options, context: { cwd, env } }) => {
    if (options.spend !== undefined && options.keys !== undefined)
      throw usage("--spend and --keys both say where the keys are; give one of them.");
    const keys = options.keys === undefined ? undefined : resolve(cwd, options.keys);
    const database = options.spend === undefined ? undefined : placeOf(options.spend, env);
    return { kind: "litellm", config: resolve(cwd, given(args, 0)), database, keys };
  });
}

function addNewApi(group: Command, context: Context): void {
  addOne(group, context, "new-api");
}

function addOneApi(group: Command, context: Context): void {
  addOne(group, context, "one-api");
}

function addOne(group: Command, context: Context, kind: "new-api" | "one-api"): void {
  const about = `bring channels, tokens, users, quotas and prices of a ${kind}`;
  const command = addImport(group, `${kind} <database>`, about);
  withExamples(
    command,
    [`svc import ${kind} ${kind}.db`, "the plan, of a file of SQLite"],
    `svc import ${kind} env:SQL_DSN --apply`,
  );
  withNotes(
    command,
    "The database is a file, mysql://user:password@host/name, postgres://…, or env:NAME for the variable that holds that.",
  );
  run(command, context, ({ args, context: { cwd, env } }) => {
    const place = placeOf(given(args, 0), env);
    return { kind, database: /^[a-z]+:\/\//i.test(place) ? place : resolve(cwd, place) };
  });
}

function addOpenAiEnv(group: Command, context: Context): void {
  const about = "keep the keys of providers that are in variables, such as OPENAI_API_KEY";
  const command = addImport(group, "openai-env", about).option(
    "--file <file>",
    "a file of NAME=value lines, such as .env; otherwise the variables of this command",
  );
  withExamples(command, "svc import openai-env", "svc import openai-env --file .env --apply");
  run(command, context, ({ options: { file }, context: { cwd } }) => ({
    kind: "openai-env",
    file: file === undefined ? undefined : resolve(cwd, file),
  }));
}

/** An address with a password need not stand in the command line, where others can read it. */
function placeOf(text: string, env: Context["env"]): string {
  const [, name] = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(text) ?? [];
  if (name === undefined) return text;
  const value = (env[name] ?? "").trim();
  if (value === "") throw usage(`${name} is not set.`);
  return value;
}

function run(
  command: Command,
  context: Context,
  sourceOf: (invocation: Invocation<Flags>) => ImportSource,
): void {
  onRun<Flags>(command, context, async (invocation) => {
    const { options } = invocation;
    const source = sourceOf(invocation);
    const name = options.source ?? source.kind;
    if (!SOURCE.test(name)) throw usage("--source takes up to 40 lower-case letters, digits, . _ and -.");
    const mapped = mapOf(options.map ?? []);
    const config = readLocalConfig(options, context);
    // Loaded late: it imports the whole service.
    const { openImport } = await import("../../src/app/import-local.ts");
    const plan = await readable(openImport(config, { source, name, mapped, env: context.env }));
    try {
      await carryOut(plan, { ...invocation, name, folder: showPath(config.dataDir, context.cwd) });
    } finally {
      await plan.stop();
    }
  });
}

async function carryOut(
  plan: ImportPlan,
  invocation: Invocation<Flags> & { readonly name: string; readonly folder: string },
): Promise<void> {
  const { output, options, context, name, folder } = invocation;
  const { items, newSecrets } = plan;
  const file = options.newKeys === undefined ? undefined : resolve(context.cwd, options.newKeys);
  if (options.apply === true && newSecrets > 0 && file === undefined)
    throw usage(`${newSecrets} keys get a new secret. Say where to write them: --new-keys FILE.`);
  if (options.apply === true)
    await plan.apply((keys) => keepNewKeys(String(file), { source: name, keys }, plan));
  const count = (action: "bring" | "here" | "leave") => items.filter((each) => each.action === action).length;
  const counts = { bring: count("bring"), here: count("here"), leave: count("leave") };
  const rows = items.map(({ kind, from, to, action, note }) => [
    ...[kind.replace("_", " "), from, to ?? "", DOES[action], note],
  ]);
  const forms = items.map(({ kind, from, to = null, action, note }) => ({ kind, from, to, action, note }));
  await output.list(
    { source: name, applied: options.apply === true, counts, new_keys: newSecrets, items: forms },
    COLUMNS,
    rows,
  );
  const rest = `${counts.here} are here already, ${counts.leave} cannot come.`;
  if (options.apply !== true)
    output.say(`${counts.bring} would come into ${folder}, ${rest} Nothing was changed: --apply does it.`);
  else {
    output.done(`${counts.bring} came into ${folder}, ${rest}`);
    if (newSecrets > 0)
      output.say(`${newSecrets} new keys are in ${options.newKeys}. Nothing can show them again.`);
    const isNew = (wanted: string) => items.some(({ kind, action }) => kind === wanted && action === "bring");
    if (isNew("key"))
      output.say(
        "Clients go on with their keys. The base URL of clients of OpenAI's API ends in /compat/v1 here, where it ended in /v1.",
      );
    if (isNew("provider_key"))
      output.say("A running server takes providers' keys up at its next start, or at svc config reload.");
  }
}

function mapOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf("=");
      if (at < 1 || at === pair.length - 1)
        throw usage("--map takes NAME=MODEL, such as dall-e-3=gpt-image-2.");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** What cannot be read of another gateway is told by its own words, which have no secret. */
async function readable<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (!(error instanceof Error && error.name === "UnreadableSource")) throw error;
    throw new Failure(EXIT.error, "unreadable_source", error.message);
  }
}
