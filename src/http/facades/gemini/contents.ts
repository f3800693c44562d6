import { invalid, mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { type GivenMedia, type MediaContext, type MediaDeps, readMedia } from "./media.ts";
import { asObject, listOf, type Member, memberOf, objectOf, textOf } from "./members.ts";

/** The request of a conversation. */
export interface Asked {
  readonly prompt: string | undefined;
  readonly pictures: readonly GivenMedia[];
}

/** One turn of a conversation. */
export interface Turn<File> {
  readonly isModel: boolean;
  readonly texts: readonly string[];
  readonly files: readonly File[];
}

/**
 * What a conversation asks for: its last turn of the user, with the files of that turn, or where it has none, those of the latest one
 * before that has some, because that is what "make it blue" is about. Undefined where there is no turn of the user.
 */
export function askedIn<File>(turns: readonly Turn<File>[]): Omit<Turn<File>, "isModel"> | undefined {
  const asking = turns.findLastIndex(({ isModel }) => !isModel);
  const turn = turns[asking];
  if (turn === undefined) return undefined;
  const pictured = turns.slice(0, asking + 1).findLast(({ files }) => files.length > 0);
  return { texts: turn.texts, files: pictured?.files ?? [] };
}

/** The prompt of texts, each on a line of its own. */
export const promptOf = (texts: readonly string[]) => (texts.length === 0 ? undefined : texts.join("\n"));

/** Reads a conversation, whose prompt comes after the system's instruction. @throws AppError naming what it cannot read */
export async function readContents(deps: MediaDeps, context: MediaContext, body: JsonObject): Promise<Asked> {
  const asked = askedIn(listOf(body, "contents").map(turnOf));
  if (asked === undefined) throw invalid({ kind: "required", field: "contents" });
  const instruction = objectOf(body, "systemInstruction");
  const before = instruction === undefined ? [] : turnOf(instruction).texts;
  const pictures = await Promise.all(asked.files.map((part) => readMedia(deps, context, part)));
  return { prompt: promptOf([...before, ...asked.texts]), pictures };
}

/** A turn may be a text, or have one part in place of a list. */
function turnOf(member: Member): Turn<Member> {
  const { value, path } = asObject(member);
  const isModel = textOf(value, "role", path)?.value === "model";
  const given = listOf(value, "parts", path).map(asObject);
  const parts = isModel ? given.filter((part) => !isThought(part)) : given;
  if (!isModel) for (const part of parts) requireKnown(part);
  const texts = parts.flatMap((part) => textOf(part.value, "text", part.path)?.value ?? []);
  return { isModel, texts, files: parts.filter(isPicture) };
}

const isThought = ({ value }: { readonly value: JsonObject }) => value.thought === true;
const isPicture = ({ value }: { readonly value: JsonObject }) =>
  memberOf(value, "inlineData") !== undefined || memberOf(value, "fileData") !== undefined;

/** @throws AppError for a part that is neither text nor a file */
function requireKnown(part: { readonly value: JsonObject; readonly path: string }): void {
  if (memberOf(part.value, "text") !== undefined || isPicture(part)) return;
  const rule = "have text, inlineData or fileData";
  throw mustBe(part.path, { rule }, { json: part.value });
}
