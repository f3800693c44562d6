import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import type { Command } from "commander";
import type { ModelBeginning } from "../../../src/app/begin-model.ts";
import { sentence } from "../../../src/domain/words/say.ts";
import { interrupted } from "../../client/retry.ts";
import { addCommand, type Invocation, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { printable } from "../../format/printable.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";

interface Flags {
  readonly from: string;
  readonly id?: string;
  readonly out?: string;
  readonly force?: boolean;
}

type Invoked = Invocation<Flags>;

/** Whose workflows these are. */
const PROVIDER = "comfyui";
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function addInit(models: Command, context: Context): void {
  const about = "begin a model of your own with a ComfyUI workflow";
  const command = withCommonFlags(addCommand(models, "init", about))
    .requiredOption("--from <file>", "the workflow, as ComfyUI exports it for its API")
    .option("--id <id>", "what requests name in model (default: by the name of the file)")
    .option("-o, --out <file>", "where to write it (default ID.yaml)")
    .option("--force", "write over a file that is there");
  withExamples(command, "svc models init --from workflow.json --id my-flux", [
    "svc models init --from workflow.json -o svc-data/models/my-flux.yaml",
    "where a server takes it up within two seconds",
  ]);
  withNotes(
    command,
    "It finds prompt, size, seed, number and length, the images, masks, videos and sounds that are loaded, and the node that saves the result. Where there are several, it asks on a terminal, and elsewhere takes one and marks it with TODO.",
    "In ComfyUI, File > Export (API) writes the file. What the editor itself saves is another format.",
  );
  withExits(command, "notFound", "conflict", "interrupted");
  onRun<Flags>(command, context, init);
}

async function init(invocation: Invoked): Promise<void> {
  const { options, context, output } = invocation;
  const id = options.id ?? idOf(options.from);
  if (!ID.test(id))
    throw usage(
      `${options.id === undefined ? `The name of ${options.from} makes no id.` : "--id is none."} An id has up to 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit.`,
      "Give another one with --id.",
    );
  const file = options.out ?? `${id}.yaml`;
  const path = resolve(context.cwd, file);
  if (options.force !== true && existsSync(path))
    throw new Failure(EXIT.conflict, "exists", `${file} is there already.`, {
      hint: "Give -o FILE for another one, or --force to write over it.",
    });
  // Loaded late: it imports all that manifests need.
  const { beginModelWith } = await import("../../../src/app/begin-model.ts");
  const workflow = await read(resolve(context.cwd, options.from), options.from);
  const begun = await beginModelWith(workflow, PROVIDER, async (beginning) => {
    const answers = await askAll(invocation, beginning);
    const source = basename(options.from);
    return { kind: beginning.kind, ...beginning.write({ id, source }, answers) };
  });
  if ("problem" in begun)
    throw new Failure(EXIT.error, "workflow_invalid", sentence(`${options.from} ${begun.problem}`));
  await Bun.write(path, begun.text);
  const { kind, guesses, fields } = begun;
  output.show({ model: id, kind, file: path, slots: fields, guesses }, () => `${file}\n`);
  const isGuessed = guesses > 0 ? ` ${guesses} of them guessed.` : "";
  output.say(`Slots for ${fields.join(", ") || "nothing"}.${isGuessed} Look at what is marked with TODO.`);
}

/** `Flux dev (1).json` → `flux-dev-1`. */
function idOf(file: string): string {
  const stem = basename(file, extname(file)).toLowerCase();
  return stem.replace(/[^a-z0-9._]+/g, "-").replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "");
}

async function read(path: string, file: string): Promise<string> {
  const { MOST_BYTES } = await import("../../../src/app/begin-model.ts");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure(EXIT.notFound, "not_found", `There is no file ${file}.`);
  if (!found.isFile()) throw usage(`${file} is no file.`);
  if (found.size > MOST_BYTES)
    throw new Failure(EXIT.error, "too_large", `${file} is larger than ${MOST_BYTES} bytes.`, {
      hint: "A workflow of a thousand nodes is smaller. Remove pictures and long texts from its nodes.",
    });
  return Bun.file(path).text();
}

/** @returns for each question the number of the option that was chosen; undefined where nobody can be asked */
async function askAll(
  { context, output, options }: Invoked,
  { questions }: ModelBeginning,
): Promise<(number | undefined)[]> {
  const { stdin, stderr } = context;
  const isAsked =
    options.noInput !== true && output.mode === "pretty" && stdin.isTerminal && stderr.isTerminal;
  if (!isAsked || questions.length === 0) return [];
  const signal = context.interruptible();
  const answers: number[] = [];
  for (const question of questions) answers.push(await ask(context, question, signal));
  return answers;
}

async function ask(
  { stdin, stderr }: Context,
  { about, options }: ModelBeginning["questions"][number],
  signal: AbortSignal,
): Promise<number> {
  const lines = options.map(({ label }, i) => `  ${i + 1}  ${printable(label)}\n`);
  stderr.write(`What is ${printable(about)}?\n${lines.join("")}`);
  while (true) {
    stderr.write(`1 to ${options.length} [1]: `);
    const line = await stdin.readLine(signal);
    if (line === undefined) stderr.write("\n");
    if (signal.aborted) throw interrupted();
    const answer = (line ?? "").trim() === "" ? 1 : Number(line);
    if (Number.isInteger(answer) && answer >= 1 && answer <= options.length) return answer - 1;
  }
}
