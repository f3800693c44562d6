import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import type { NameOf } from "../../src/domain/words/say.ts";
import { jsonFault } from "../../src/toolkit/json-fault.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import { collect } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { withNotes } from "../help/manual.ts";
import { type Input, parseInput, parseJson, type ReadFile, readInputs } from "./inputs.ts";
import { readCount } from "./values.ts";

/** What a task is to be made of. */
export interface RequestFlags {
  readonly model?: string;
  readonly prompt?: string;
  readonly input?: readonly string[];
  readonly jsonInput?: string;
  readonly outputs?: string;
  readonly callbackUrl?: string;
}

export function addRequestFlags(command: Command, model: string): Command {
  command
    .option("-m, --model <model>", model)
    .option("-p, --prompt <text>", "what to make; @FILE reads it from a file, - from standard input")
    .option("-i, --input <name=value>", "another field of the model; repeatable", collect)
    .option("--json-input <file>", "a JSON object with fields of the request; - is standard input")
    .option("-n, --outputs <count>", "how many results to make");
  return withNotes(
    command,
    "Inputs: -i name=value (typed by the model's schema), -i name=@file (an image or a video becomes a data URI, anything else its text; @- is standard input), -i name:=json (exactly this JSON). They are checked against the model's schema before anything is sent.",
  );
}

/** A request as it was given, before its model is known. */
export interface GivenRequest {
  readonly model: string | undefined;
  readonly prompt: string | undefined;
  /** How many results are asked for. */
  readonly count: number;
  /** The create body for a model, its fields typed by the model's schema. */
  bodyFor(model: { readonly id: string; readonly schema: unknown }, more?: JsonObject): Promise<JsonObject>;
  /** The flag that gives a field. */
  readonly nameOf: NameOf;
}

/**
 * Reads the flags of a request, with the files and the standard input that they name.
 *
 * @param words the prompt where it is an argument; `-` is standard input
 * @throws Failure (exit 2) for what cannot be read
 */
export async function readRequest(
  flags: RequestFlags,
  context: Context,
  words?: string | undefined,
): Promise<GivenRequest> {
  if (words !== undefined && flags.prompt !== undefined)
    throw usage("The prompt is given twice: as an argument and with --prompt.");
  const inputs = (flags.input ?? []).map(parseInput);
  refuseSharing([words === "-", flags.prompt === "-", flags.jsonInput === "-", ...inputs.map(readsStdin)]);
  const read = remembering(fileReader(context));
  const base = flags.jsonInput === undefined ? {} : await readJson(flags.jsonInput, read);
  const prompt = await readPrompt(words === "-" ? { prompt: "-" } : { words, prompt: flags.prompt }, read);
  const given: JsonObject = {
    ...base,
    ...(prompt === undefined ? {} : { prompt }),
    ...(flags.outputs === undefined ? {} : { n: readCount("--outputs", flags.outputs, 4) }),
    ...(flags.callbackUrl === undefined ? {} : { callback_url: flags.callbackUrl }),
  };
  const counted = inputs.find(({ name }) => name === "n")?.value ?? given.n;
  return {
    model: flags.model ?? textOf(base.model),
    prompt: textOf(given.prompt) ?? promptIn(inputs),
    count: Math.max(1, Math.min(100, Math.floor(Number(counted)) || 1)),
    bodyFor: async ({ id, schema }, more = {}) => ({
      ...given,
      ...more,
      model: id,
      ...(await readInputs(inputs, schema, read)),
    }),
    nameOf: namer(flags, base, words !== undefined),
  };
}

/** A prompt that was given as any other field. */
function promptIn(inputs: readonly Input[]): string | undefined {
  const given = inputs.find(({ name, form }) => name === "prompt" && form !== "file");
  return given?.form === "json" ? textOf(parseJson("prompt", given.value)) : given?.value;
}

/** Reads a file of the user's, or standard input for `-`. */
export function fileReader({ cwd, stdin }: Pick<Context, "cwd" | "stdin">): ReadFile {
  return async (path) => {
    try {
      return path === "-" ? await stdin.readAll() : await readFile(resolve(cwd, path));
    } catch (error) {
      throw usage(`Cannot read ${path}: ${reasonOf(error)}.`);
    }
  };
}

/** The same request may be made for several models. */
function remembering(read: ReadFile): ReadFile {
  const files = new Map<string, Promise<Uint8Array>>();
  return (path) => {
    const known = files.get(path) ?? read(path);
    files.set(path, known);
    return known;
  };
}

async function readPrompt(
  { words, prompt }: { readonly words?: string | undefined; readonly prompt?: string | undefined },
  read: ReadFile,
): Promise<string | undefined> {
  if (words !== undefined || prompt === undefined) return words;
  if (prompt !== "-" && !prompt.startsWith("@")) return prompt;
  const path = prompt === "-" ? "-" : prompt.slice(1);
  const bytes = await read(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    throw usage(`--prompt ${prompt}: ${path === "-" ? "standard input" : path} is no text in UTF-8.`);
  }
}

async function readJson(path: string, read: ReadFile): Promise<JsonObject> {
  const text = new TextDecoder().decode(await read(path.replace(/^@/, "")));
  let value: Json;
  try {
    // JSON.parse returns only Json.
    value = JSON.parse(text) as Json;
  } catch {
    throw usage(`--json-input ${path} is not valid JSON: ${jsonFault(text)}.`);
  }
  if (isJsonObject(value)) return value;
  throw usage(`--json-input ${path} must be a JSON object, such as {"prompt": "a lighthouse"}.`);
}

function refuseSharing(reads: readonly boolean[]): void {
  if (reads.filter(Boolean).length > 1)
    throw usage("Standard input can be read once, and several flags ask for it.");
}

function readsStdin({ form, value }: Input): boolean {
  return form === "file" && value === "-";
}

function namer(flags: RequestFlags, base: JsonObject, hasWords: boolean): NameOf {
  return (field) => {
    const [top = ""] = /^[^.[]*/.exec(field) ?? [];
    if (top === "model") return "--model";
    if (top === "n" && flags.outputs !== undefined) return "--outputs";
    if (top === "callback_url" && flags.callbackUrl !== undefined) return "--callback-url";
    if (Object.hasOwn(base, top)) return field;
    if (top === "prompt") return hasWords ? "The prompt" : "--prompt";
    return `-i ${field}`;
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
