import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Output, PollResult } from "../../domain/ports/provider.ts";

/** Under which name each model puts what it made. */
const PLACES = [
  ["images", "image"],
  ["image", "image"],
  ["videos", "video"],
  ["video", "video"],
] as const;

/** What a model made. Pictures its safety checker blackened are left out; when none is left, the request was moderated. */
export function readResult(result: JsonObject): PollResult {
  const flags = Array.isArray(result.has_nsfw_concepts) ? result.has_nsfw_concepts : [];
  const made = PLACES.flatMap(([name, kind]) => filesOf(result[name]).map((file) => ({ file, kind })));
  const shown = made.filter((_, index) => flags[index] !== true);
  if (made.length > 0 && shown.length === 0)
    return { kind: "failed", code: "CONTENT_MODERATED", isCharged: true };
  const outputs = shown.flatMap(({ file, kind }) => toOutput(file, kind));
  if (outputs.length > 0) return { kind: "succeeded", outputs };
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

function toOutput(file: Json, kind: "image" | "video"): Output[] {
  if (!isJsonObject(file) || typeof file.url !== "string") return [];
  const { url } = file;
  const inline = INLINE.exec(url.slice(0, 256));
  if (inline === null) return [{ kind: "remote", ref: { url, kind } }];
  return [{ kind: "bytes", bytes: Buffer.from(url.slice(inline[0].length), "base64") }];
}
