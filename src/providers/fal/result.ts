import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Output, PollResult } from "../../domain/ports/provider.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import { type AnswerFiles, bytesOf } from "../kit/json-answer.ts";

/** Under which name each model puts what it made. */
const PLACES = [
  ["images", "image"],
  ["image", "image"],
  ["videos", "video"],
  ["video", "video"],
] as const;

/** Whether an answer is a model's result that has files, and not something else that came in its place. */
export function isResult(answer: JsonObject): boolean {
  return PLACES.some(([name]) => filesOf(answer[name]).length > 0);
}

/**
 * What a model made, from the answer that says it. Pictures its safety checker blackened are missing; when none is left, the request was
 * moderated.
 *
 * @param wanted what the task is to make: a model of videos may add a picture of each
 */
export function readResult(result: JsonObject, answer: AnswerFiles = {}, wanted?: TaskKind): PollResult {
  const flags = Array.isArray(result.has_nsfw_concepts) ? result.has_nsfw_concepts : [];
  const all = PLACES.flatMap(([name, kind]) => filesOf(result[name]).map((file) => ({ file, kind })));
  const own = all.filter(({ kind }) => kind === wanted);
  const made = own.length === 0 ? all : own;
  if (made.length > 0 && made.every((_, index) => flags[index] === true))
    return { kind: "failed", code: "CONTENT_MODERATED", isCharged: true };
  const outputs = made.map(
    ({ file, kind }, index): Output =>
      flags[index] === true ? { kind: "missing", code: "CONTENT_MODERATED" } : toOutput(answer, file, kind),
  );
  if (outputs.some((output) => output.kind !== "missing")) return { kind: "succeeded", outputs };
  return {
    kind: "failed",
    code: "UPSTREAM_ERROR",
    message: "The provider finished without an output.",
    isCharged: true,
  };
}

function filesOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

const INLINE = /^data:[\w.+/-]+;base64,/;

function toOutput(answer: AnswerFiles, file: Json, kind: "image" | "video"): Output {
  if (!isJsonObject(file) || typeof file.url !== "string") return { kind: "missing", code: "UPSTREAM_ERROR" };
  const { url } = file;
  if (!INLINE.test(url.slice(0, 256))) return { kind: "remote", ref: { url, kind } };
  return { kind: "bytes", bytes: bytesOf(answer, url) };
}
