import { type Command, Option } from "commander";
import { displayOf, parseCredential } from "../../../src/domain/access/credential.ts";
import { matchesPattern } from "../../../src/domain/access/permissions.ts";
import { SNIPPETS } from "../../../src/snippets/all.ts";
import { KEY_VARIABLE, type Snippet } from "../../../src/snippets/snippet.ts";
import type { ModelView } from "../../client/model.ts";
import { given } from "../../command.ts";
import type { Context } from "../../context.ts";
import { type Failure, usage } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { column } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";
import type { Place, ShownKey } from "../../manage/port.ts";

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
/** What a snippet needs its model to do, the better one first. */
const MODES = ["text-to-image", "text-to-video"];
const COLUMNS = [column.id("FOR", 2), column.text("PROGRAM", 1), column.text("WHERE IT GOES")];

export function addSnippet(keys: Command, context: Context): void {
  const about = "print how a program is told of this service and a key, by id or name";
  const command = addManagedCommand(keys, "snippet <key>", about)
    .addOption(
      new Option("--for <program>", "the program or library, or list")
        .choices([...SNIPPETS.map(({ id }) => id), LIST])
        .makeOptionMandatory(),
    )
    .option(
      "--model <id>",
      `the model in it (default: one of pictures that the key may use, or else of videos)`,
    )
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
    const place = await open();
    const key = await place.manage.showKey(given(args, 0));
    const snippet = SNIPPETS.find(({ id }) => id === options.for);
    if (snippet === undefined) return await showList(output);
    const secret = options.withSecret === true ? secretOf(key, context) : undefined;
    const { model, kind } = await chooseModel(place, key, options.model);
    const way = kind === "video" ? snippet.film : snippet;
    if (way === undefined) throw picturesOnly(snippet, model);
    const text = way.text({ origin: addressOf(options.url ?? place.origin), key: secret, model });
    output.say(way.place);
    output.show(
      { key: key.name, for: snippet.id, program: snippet.name, place: way.place, model, text },
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

/** The model of a snippet, and what it makes; a model that nobody knows is taken for one of pictures. */
async function chooseModel(place: Place, { policy }: ShownKey, asked: string | undefined) {
  const models = await place.models();
  const { models: patterns = ["*"] } = policy;
  const rankOf = ({ id }: ModelView) => patterns.findIndex((pattern) => matchesPattern(pattern, id));
  const fitting = models.filter((each) => rankOf(each) !== -1).sort((a, b) => rankOf(a) - rankOf(b));
  const usual = fitting.filter(({ id }) => patterns.includes("*") && id === USUAL_MODEL);
  const able = MODES.flatMap((mode) => [...usual, ...fitting].filter(({ modes }) => modes.includes(mode)));
  const model = asked ?? (able.find(({ isAvailable }) => isAvailable) ?? able[0])?.id ?? USUAL_MODEL;
  return { model, kind: models.find(({ id }) => id === model)?.kind ?? "image" };
}

function picturesOnly({ name }: Snippet, model: string): Failure {
  return usage(
    `${name} makes pictures alone, and ${model} makes videos. Choose a model of pictures with --model.`,
  );
}

/** @throws Failure (exit 2) for what is no address of a server */
function addressOf(text: string): string {
  const isAddress = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isAddress) throw usage("--url takes an address such as https://svc.example.");
  return text.replace(/\/+$/, "");
}
