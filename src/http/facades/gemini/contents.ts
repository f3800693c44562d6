import { invalid, mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type GivenMedia, type MediaContext, type MediaDeps, readMedia } from "./media.ts";
import { asObject, listOf, type Member, memberOf, objectOf, textOf } from "./members.ts";

/** The request of a conversation. */
export interface Asked {
  readonly prompt: string | undefined;
  readonly pictures: readonly GivenMedia[];
}

/** One turn, and where it stands. */
interface Turn {
  readonly role: string;
  readonly parts: readonly { readonly value: JsonObject; readonly path: string }[];
}

/**
 * Reads a conversation: its last turn of the user is the prompt, after the system's instruction. Its pictures are those of that
 * turn, or where it has none, those of the latest one before that has some, because that is what "make it blue" is about.
 * @throws AppError naming what it cannot read
 */
export async function readContents(deps: MediaDeps, context: MediaContext, body: JsonObject): Promise<Asked> {
  const turns = listOf(body, "contents").map(turnOf);
  const asking = turns.findLastIndex(({ role }) => role !== "model");
  const turn = turns[asking];
  if (turn === undefined) throw invalid({ kind: "required", field: "contents" });
  const instruction = objectOf(body, "systemInstruction");
  const before = instruction === undefined ? [] : textsOf(turnOf(instruction));
  const texts = [...before, ...textsOf(turn)];
  const pictured = turns.slice(0, asking + 1).findLast(({ parts }) => parts.some(isPicture));
  const found = pictured?.parts.filter(isPicture) ?? [];
  const pictures = await Promise.all(found.map((part) => readMedia(deps, context, part)));
  return { prompt: texts.length === 0 ? undefined : texts.join("\n"), pictures };
}

/** A turn may be a text, or have one part in place of a list. */
function turnOf(member: Member): Turn {
  const { value, path } = asObject(member);
  const role = textOf(value, "role", path)?.value ?? "user";
  const parts = listOf(value, "parts", path).map(asObject);
  if (role === "model") return { role, parts: parts.filter((part) => !isThought(part)) };
  for (const part of parts) requireKnown(part);
  return { role, parts };
}

const isThought = ({ value }: { readonly value: JsonObject }) => value.thought === true;
const isPicture = ({ value }: { readonly value: JsonObject }) =>
  memberOf(value, "inlineData") !== undefined || memberOf(value, "fileData") !== undefined;

function textsOf({ parts }: Turn): string[] {
  return parts.flatMap(({ value, path }) => textOf(value, "text", path)?.value ?? []);
}

/** @throws AppError for a part that is neither text nor a file */
function requireKnown(part: { readonly value: JsonObject; readonly path: string }): void {
  if (memberOf(part.value, "text") !== undefined || isPicture(part)) return;
  const rule = "have text, inlineData or fileData";
  throw mustBe(part.path, { rule }, { json: part.value });
}
