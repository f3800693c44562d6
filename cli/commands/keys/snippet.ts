import { type Command, Option } from "commander";
import { displayOf, parseCredential } from "../../../src/domain/access/credential.ts";
import { SNIPPETS } from "../../../src/snippets/all.ts";
import { KEY_VARIABLE, type Snippet } from "../../../src/snippets/snippet.ts";
import { given } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { column } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";
import type { ShownKey } from "../../manage/port.ts";

interface Flags {
  readonly for: string;
  readonly model?: string;
  readonly url?: string;
  readonly withSecret?: boolean;
}

/** In place of a program: which there are. */
const LIST = "list";
/** Every server has it unless it is left out. */
const USUAL_MODEL = "sandbox-image";
const COLUMNS = [column.id("FOR", 2), column.text("PROGRAM", 1), column.text("WHERE IT GOES")];

export function addSnippet(keys: Command, context: Context): void {
  const about = "print how a program is told of this service and a key, by id or name";
  const command = addManagedCommand(keys, "snippet <key>", about)
    .addOption(
      new Option("--for <program>", "the program or library, or list")
        .choices([...SNIPPETS.map(({ id }) => id), LIST])
        .makeOptionMandatory(),
    )
    .option("--model <id>", `the model in it (default: the first that the key may use, or ${USUAL_MODEL})`)
    .option("--url <address>", "the service's address in it, where programs reach it by another one")
    .option("--with-secret", `put the key in ${KEY_VARIABLE} itself into it`);
  withExamples(
    command,
    ["svc keys snippet web --for list", "the programs there are"],
    "svc keys snippet web --for openai-js",
    "svc keys snippet agent --for mcp-cursor --url https://svc.example",
    ["svc keys snippet web --for librechat --with-secret >> .env", "with the key, which is in SVC_API_KEY"],
  );
  withNotes(
    command,
    `No key is stored, so a snippet reads the variable ${KEY_VARIABLE}. With --with-secret it has the key that this variable holds now.`,
  );
  onManagedRun<Flags>(command, context, async ({ args, options, output, open }) => {
    const { manage, origin } = await open();
    const key = await manage.showKey(given(args, 0));
    const snippet = SNIPPETS.find(({ id }) => id === options.for);
    if (snippet === undefined) return await showList(output);
    const secret = options.withSecret === true ? secretOf(key, context) : undefined;
    const model = options.model ?? firstOf(key) ?? USUAL_MODEL;
    const text = snippet.text({ origin: addressOf(options.url ?? origin), key: secret, model });
    output.say(snippet.place);
    output.show(
      { key: key.name, for: snippet.id, program: snippet.name, place: snippet.place, model, text },
      () => `${text}\n`,
    );
  });
}

async function showList(output: Output): Promise<void> {
  const rows = SNIPPETS.map(({ id, name, place }) => [id, name, place]);
  await output.list({ programs: SNIPPETS.map(formOf) }, COLUMNS, rows);
}

const formOf = ({ id, name, place, language }: Snippet) => ({ for: id, program: name, place, language });

/** @throws Failure (exit 2) where the variable holds no key, or certainly another one */
function secretOf(key: ShownKey, { env }: Context): string {
  const secret = (env[KEY_VARIABLE] ?? "").trim();
  if (secret === "")
    throw usage(`--with-secret: ${KEY_VARIABLE} is not set, and nothing else knows the key.`);
  // Of a key that another gateway made, nothing here tells whose it is.
  const isOurs = parseCredential(secret) !== undefined;
  if (isOurs && ![key.display, key.previous?.display].includes(displayOf(secret)))
    throw usage(`--with-secret: ${KEY_VARIABLE} holds another key than ${key.name}.`);
  return secret;
}

/** A model that the key may use, where it names one without a star. */
function firstOf({ policy }: ShownKey): string | undefined {
  return policy.models?.find((pattern) => !pattern.includes("*"));
}

/** @throws Failure (exit 2) for what is no address of a server */
function addressOf(text: string): string {
  const isAddress = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isAddress) throw usage("--url takes an address such as https://svc.example.");
  return text.replace(/\/+$/, "");
}
