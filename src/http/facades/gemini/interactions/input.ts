import { invalid, mustBe } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import { assetPath, MEDIA_TYPES } from "../../../../domain/media/asset.ts";
import type { TaskStore } from "../../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../../domain/task/task.ts";
import { refuseFileless } from "../../../../service/follow-up-task.ts";
import { readTask } from "../../../../service/read-task.ts";
import { askedIn, promptOf, type Turn } from "../contents.ts";
import { type GivenMedia, type MediaContext, type MediaDeps, readMedia } from "../media.ts";
import { asObject, listOf, type Member, memberOf, textOf, within } from "../members.ts";

export interface InputDeps extends MediaDeps {
  readonly tasks: TaskStore;
}

/** A picture or a video that is given. */
export interface GivenFile extends GivenMedia {
  readonly kind: FileKind;
}

/** What an interaction is about. */
export interface AskedInteraction {
  readonly prompt: string | undefined;
  readonly files: readonly GivenFile[];
}

const FILES = ["image", "video"] as const;
type FileKind = (typeof FILES)[number];

interface File {
  readonly kind: FileKind;
  readonly member: Member;
}

const INPUT = "input";
const PREVIOUS = "previousInteractionId";
const MODEL_OUTPUT = "model_output";
const STEPS = ["user_input", MODEL_OUTPUT, "thought"];

/**
 * Reads what is asked: the last turn of the user, after the system's instruction. Its files are those of a conversation, or where it has
 * none, what the previous interaction made.
 * @throws AppError naming what it cannot read
 */
export async function readInput(
  deps: InputDeps,
  context: MediaContext,
  body: JsonObject,
): Promise<AskedInteraction> {
  const asked = askedIn(turnsOf(body));
  if (asked === undefined) throw invalid({ kind: "required", field: INPUT });
  const instruction = textOf(body, "systemInstruction")?.value;
  const prompt = promptOf([...(instruction === undefined ? [] : [instruction]), ...asked.texts]);
  const previous = await previousFile(deps, context, body);
  const files = await Promise.all(
    asked.files.map(async ({ kind, member }) => ({
      kind,
      ...(await readMedia(deps, context, member, "data")),
    })),
  );
  return { prompt, files: files.length === 0 && previous !== undefined ? [previous] : files };
}

/** The first thing that the previous interaction made. */
async function previousFile(
  deps: InputDeps,
  { principal, origin }: MediaContext,
  body: JsonObject,
): Promise<GivenFile | undefined> {
  const id = textOf(body, PREVIOUS);
  if (id === undefined) return undefined;
  const task: TaskSummary = await readTask(deps, principal, id.value);
  const { status, results } = task;
  const result = results.find(({ type }) => isFile(MEDIA_TYPES[type].kind));
  if (status !== "completed" || result === undefined)
    throw mustBe(id.path, { rule: "be an interaction that has made something" }, id.value);
  refuseFileless(task, id.path);
  const address = origin + assetPath({ ...result, id: result.assetId });
  return { kind: MEDIA_TYPES[result.type].kind === "video" ? "video" : "image", address, path: id.path };
}

const isFile = (kind: unknown): kind is FileKind => FILES.some((each) => each === kind);

/** The turns of an input. What stands beside them, such as a text alone, is a turn of the user. */
function turnsOf(body: JsonObject): Turn<File>[] {
  const turns: Turn<File>[] = [];
  let own: Member[] = [];
  const endOwn = () => {
    if (own.length > 0) turns.push(turnIn(own, false));
    own = [];
  };
  for (const entry of listOf(body, INPUT)) {
    const turn = turnOf(entry);
    if (turn === undefined) own.push(entry);
    else {
      endOwn();
      turns.push(turn);
    }
  }
  endOwn();
  return turns;
}

/** A step, or a turn as earlier clients have it; undefined for what is neither. */
function turnOf(entry: Member): Turn<File> | undefined {
  if (typeof entry.value === "string") return undefined;
  const { value, path } = asObject(entry);
  const role = textOf(value, "role", path);
  const type = textOf(value, "type", path);
  if (role === undefined && (type === undefined || memberOf(value, "content", path) === undefined)) {
    if (type === undefined || !STEPS.includes(type.value)) return undefined;
  }
  if (type !== undefined && !STEPS.includes(type.value))
    throw mustBe(type.path, { oneOf: STEPS }, type.value);
  // What a model thought is not what was asked.
  if (type?.value === "thought") return { isModel: true, texts: [], files: [] };
  const isModel = type?.value === MODEL_OUTPUT || role?.value === "model";
  return turnIn(listOf(value, "content", path), isModel);
}

function turnIn(contents: readonly Member[], isModel: boolean): Turn<File> {
  const texts: string[] = [];
  const files: File[] = [];
  for (const member of contents) {
    if (typeof member.value === "string") texts.push(member.value);
    else addContent(asObject(member), { texts, files });
  }
  return { isModel, texts, files };
}

function addContent(
  content: { readonly value: JsonObject; readonly path: string },
  { texts, files }: { readonly texts: string[]; readonly files: File[] },
): void {
  const { value, path } = content;
  const type = textOf(value, "type", path);
  const text = textOf(value, "text", path);
  if (isFile(type?.value)) files.push({ kind: type.value, member: content });
  else if (text !== undefined && (type === undefined || type.value === "text")) texts.push(text.value);
  else {
    const given = { json: type?.value ?? null };
    throw mustBe(within(path, "type"), { oneOf: ["text", ...FILES] }, given);
  }
}
