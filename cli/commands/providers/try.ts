import { accessSync, constants, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { TrialInput } from "../../../src/app/trial-inputs.ts";
import type { OpenedTrial, SeenExchange, Trial, TrialEnd } from "../../../src/app/try-form.ts";
import type { Json, JsonObject } from "../../../src/domain/json.ts";
import { formatAmount } from "../../../src/domain/money/money.ts";
import { INPUT_ROLES } from "../../../src/domain/task/request.ts";
import { reasonOf } from "../../../src/toolkit/system-error.ts";
import { addCommand, collect, given, type Invocation, onRun, withCommonFlags } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { type Input, isRounded, parseInput, parseJson } from "../../flags/inputs.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { readFormFile } from "./check.ts";

interface Flags {
  readonly prompt?: string;
  readonly input?: readonly string[];
  readonly kind: "image" | "video";
  readonly mode?: string;
  readonly region?: string;
  readonly out: string;
}

export function addTry(providers: Command, context: Context): void {
  const about =
    "make one real task with a file that describes a provider, and show what is sent and answered";
  const command = asksFirst(withCommonFlags(addCommand(providers, "try <file> <model>", about)))
    .option("-p, --prompt <text>", "the prompt")
    .option("-i, --input <name=value>", "a parameter; name:=JSON for JSON, image=@file for a file", collect)
    .addOption(new Option("--kind <kind>", "what is made").choices(["image", "video"]).default("image"))
    .option("--mode <mode>", "the mode (default text-to-image or text-to-video, with files image-to-…)")
    .option("--region <region>", "one of the regions that the file names")
    .option("-o, --out <folder>", "where to save what was made", ".");
  withExamples(
    command,
    'svc providers try bildwerk.yaml farbe-2 -p "a fox" -i seed=7',
    [
      'svc providers try bildwerk.yaml farbe-2 -p "a fox" --yes',
      "in a script; it costs what the provider charges",
    ],
    'svc providers try bildwerk.yaml farbe-2 -p "at night" -i image=@photo.png',
  );
  withNotes(
    command,
    "The model is the provider's own name for it. The key is read from the variable that the file names; no server and no data folder are needed. What is shown has no secret in it, and long base64 is cut short.",
    "A question that the provider does not answer is asked again for some minutes. Ctrl-C leaves the job at the provider. Whatever ends the wait, what the job is asked after by is printed.",
  );
  withExits(command, "notFound", "taskFailed", "taskCancelled", "auth", "interrupted");
  onRun<Flags>(command, context, tryForm);
}

async function tryForm(invocation: Invocation<Flags>): Promise<void> {
  const { args, options, context } = invocation;
  const [file, model] = [given(args, 0), given(args, 1)];
  const text = await readFormFile(resolve(context.cwd, file), file);
  // Loaded late: it imports all that forms need.
  const { openTrial } = await import("../../../src/app/try-form.ts");
  const opened = openTrial(file, text, context.env);
  if ("findings" in opened) {
    const [first] = opened.findings;
    const message = `${file}:${first?.line}:${first?.column}: ${first?.message}`;
    const hint = `\`svc providers check ${file}\` tells all that is wrong.`;
    throw new Failure(EXIT.error, "form_invalid", message, { hint });
  }
  if ("missing" in opened)
    throw new Failure(EXIT.auth, "no_key", `There is no key. Set ${opened.missing.join(" and ")}.`);
  const { kind, prompt, region } = options;
  const inputs = (options.input ?? []).map(parseInput);
  const parameters = parametersOf(inputs);
  const folder = writableFolder(resolve(context.cwd, options.out));
  const files = await filesOf(inputs, opened, context);
  const mode = options.mode ?? `${inputs.some(isFile) ? "image" : "text"}-to-${kind}`;
  const what = `Make one ${kind} with ${model} at ${opened.provider}?`;
  try {
    await confirm(invocation, `${what} It costs what the provider charges.`);
    const trial = { model, kind, mode, prompt, region, parameters, inputs: files?.files };
    await make(invocation, opened, trial, folder);
  } finally {
    files?.stop();
  }
}

async function make(
  { context, output }: Invocation<Flags>,
  opened: OpenedTrial,
  trial: Trial,
  folder: string,
): Promise<void> {
  const exchanges: SeenExchange[] = [];
  const end = await opened.run(trial, {
    signal: context.interruptible(),
    onExchange(exchange) {
      exchanges.push(exchange);
      output.say(exchangeText(exchange));
    },
    onUnknownWord: (word) => output.warn(`The status "${word}" is not in the file; it counts as pending.`),
    onRetry: (cause) => output.say(`${cause}; asking again.`),
  });
  await tell(end, { exchanges, output, provider: opened.provider, folder });
}

/** Made before anything is paid for. */
function writableFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
    return path;
  } catch (error) {
    throw usage(`--out: nothing can be saved in ${path}: ${reasonOf(error)}.`);
  }
}

interface Telling {
  readonly exchanges: readonly SeenExchange[];
  readonly output: Output;
  readonly provider: string;
  readonly folder: string;
}

async function tell(end: TrialEnd, { exchanges, output, provider, folder }: Telling): Promise<void> {
  if (end.kind === "failed") throw new Failure(EXIT.taskFailed, "task_failed", end.message);
  if (end.kind === "cancelled")
    throw new Failure(EXIT.taskCancelled, "task_cancelled", "The job was cancelled.");
  if (end.kind === "left") throw left(end);
  const files: string[] = [];
  for (const [i, { bytes, extension }] of end.files.entries()) {
    const path = join(folder, `${provider}-${Date.now()}-${i + 1}.${extension}`);
    try {
      await Bun.write(path, bytes);
    } catch (error) {
      throw left({ operation: end.operation, cause: `${path} cannot be written: ${reasonOf(error)}` });
    }
    files.push(path);
  }
  const cost = end.costMicros === undefined ? undefined : formatAmount(end.costMicros);
  output.show({ provider, files, missing: end.missing, cost_usd: cost ?? null, exchanges }, () =>
    files.map((file) => `${printable(file)}\n`).join(""),
  );
  if (end.missing > 0) output.warn(`${end.missing} outputs are missing.`);
  output.say(cost === undefined ? "The provider does not say what it cost." : `It cost ${cost} USD.`);
  if (files.length === 0) throw new Failure(EXIT.taskFailed, "task_failed", "Nothing was made.");
}

/** Tells what the job is asked after by, which was paid for and is not in hand. */
function left({ operation, cause }: { operation?: Json | undefined; cause?: string | undefined }): Failure {
  const more: JsonObject = operation === undefined ? {} : { operation };
  const text = JSON.stringify(operation);
  if (cause === undefined)
    return new Failure(EXIT.interrupted, "interrupted", `The job goes on at the provider: ${text}`, { more });
  const hint =
    operation === undefined
      ? "The provider took the job, and gave nothing to ask after it by but its answer."
      : `The provider took the job, and may charge for it. It is asked after by ${text}`;
  return new Failure(EXIT.error, "job_left", `${cause.replace(/\.$/, "")}.`, { hint, more });
}

function exchangeText({ method, url, headers, body, status, answer }: SeenExchange): string {
  const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return [
    `> ${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `> ${name}: ${value}`),
    ...(body === undefined ? [] : [`> ${shown(body)}`]),
    `< ${status} ${shown(answer)}`,
  ].join("\n");
}

/** `seed=7` is a number, `wide=true` a boolean, `size=1x1` a text, `list:=[1]` JSON. */
function parametersOf(inputs: readonly Input[]): Record<string, Json> {
  const given = inputs.filter((input) => !isFile(input));
  return Object.fromEntries(
    given.map(({ name, form, value }) => [
      name,
      form === "json" ? parseJson(name, value) : plainOf(name, value),
    ]),
  );
}

const isFile = ({ form }: Input) => form === "file";

/** Reads and checks the files, each for what its name says. Undefined where there are none. */
async function filesOf(inputs: readonly Input[], { needsInputUrls }: OpenedTrial, { cwd }: Context) {
  const named = inputs.filter(isFile);
  if (named.length === 0) return undefined;
  if (needsInputUrls)
    throw usage("This provider takes files by their address alone, which only a server with public_url has.");
  const given: TrialInput[] = [];
  for (const { name, value } of named) {
    const role = INPUT_ROLES.find((each) => each === name);
    if (role === undefined)
      throw usage(`--input ${name}: a file is one of ${INPUT_ROLES.join(", ")}, such as image=@photo.png.`);
    try {
      given.push({ role, bytes: await readFile(resolve(cwd, value)) });
    } catch (error) {
      throw usage(`--input ${name}: ${value} cannot be read: ${reasonOf(error)}.`);
    }
  }
  // Loaded late: it decodes pictures.
  const { openTrialInputs, TrialInputError } = await import("../../../src/app/trial-inputs.ts");
  try {
    return await openTrialInputs(given);
  } catch (error) {
    if (error instanceof TrialInputError) throw usage(`--input ${error.message}.`);
    throw error;
  }
}

function plainOf(name: string, text: string): Json {
  if (text === "true" || text === "false") return text === "true";
  // Told as of any JSON.
  if (isRounded(text)) return parseJson(name, text);
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}
