import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Output } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { answerWithout } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import { bytesOf, parseJson } from "../kit/json-answer.ts";

/** The pictures of an answer, and what it says of how they were made. */
export interface Made {
  readonly outputs: readonly Output[];
  readonly info: JsonObject;
}

/**
 * Reads `{images: [base64], info: "JSON"}`. A server may put a grid of all pictures before them, and maps of its extensions after them.
 *
 * @param asked how many pictures, and the size that each must have
 * @throws ProviderError for an answer without images
 */
export function readPictures(
  upstream: Upstream,
  answer: UpstreamAnswer,
  { n, size }: { readonly n: number; readonly size?: string | undefined },
): Made {
  const said = isJsonObject(answer.json) ? answer.json : {};
  const images = Array.isArray(said.images) ? said.images.filter((each) => typeof each === "string") : [];
  if (images.length === 0) throw answerWithout(upstream, answer, "images");
  const info = readInfo(said.info);
  const first = firstOf(info, images.length);
  // An interruption leaves fewer of them than were asked for, and a grid and maps all the same.
  const made = Array.isArray(info.all_seeds) ? Math.min(n, info.all_seeds.length) : n;
  const outputs = images
    .slice(first, first + made)
    .map((text): Output => ({ kind: "bytes", bytes: bytesOf(answer, text), size }));
  return { outputs, info };
}

function readInfo(text: Json | undefined): JsonObject {
  const info = typeof text === "string" ? parseJson(text) : text;
  return isJsonObject(info) ? info : {};
}

function firstOf({ index_of_first_image: first }: JsonObject, images: number): number {
  return typeof first === "number" && Number.isInteger(first) && first > 0 && first < images ? first : 0;
}
