import { isJsonObject } from "../../domain/json.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfError, refusalOf } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { type ErrorWords, readErrorWords, textIn } from "../kit/said.ts";

/** What its own words mean, which come with statuses that say less (modules/api/api.py of AUTOMATIC1111 and Forge, 2026-08). */
const WORDS: readonly (readonly [RegExp, Meaning])[] = [
  [/OutOfMemory|out of memory|not enough memory/i, "busy"],
  [/^(?:Sampler not found|Init image not found)/i, "bad_input"],
  [/^Invalid (?:encoded image|image url)|^Requests? (?:not allowed|to local resource)/i, "bad_input"],
  // Scripts are the operator's own. To look on for the end from every place in a long text would hold the process.
  [/script '?.{0,200}? not found|^Script/i, "refused"],
];

/** Codes of an instance of this service that speaks the API (docs/facades.md), where their statuses say less. */
const CODES: ReadonlyMap<string, Meaning> = new Map([
  ["content_policy_violation", "moderated"],
  ["insufficient_quota", "spent"],
  ["loop_detected", "looped"],
]);

/** A submission that the server refuses. */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer): Refusal {
  const { status, json } = answer;
  const said = isJsonObject(json) ? json : {};
  const words = readErrorWords(answer);
  // `{error: "OutOfMemoryError", detail: "", body: "", errors: "CUDA out of memory"}`
  const isFourfold = typeof said.error === "string" && typeof said.errors === "string";
  const word = isFourfold ? textIn(said.error) : (words.code ?? words.type);
  const told = isFourfold ? (textIn(said.detail) ?? textIn(said.errors)) : words.message;
  const meaning =
    (isFourfold ? CODES.get(word ?? "") : undefined) ??
    meaningOf(answer, { ...words, code: word, message: told }, isFourfold);
  const message = status === 404 && told === "Not Found" ? `${told}; was it started with --api?` : told;
  return refusalOf(upstream, answer, meaning, { word, message });
}

function meaningOf(
  { status, text, headers }: UpstreamAnswer,
  words: ErrorWords,
  isFourfold: boolean,
): Meaning {
  // Those of an account or of the way there mean what they say, whatever the words.
  if (status >= 400 && status !== 401 && status !== 403) {
    const said = [words.message, words.code].filter((each) => each !== undefined);
    const known = WORDS.find(([pattern]) => said.some((each) => pattern.test(each)));
    if (known !== undefined) return known[1];
  }
  // What its web framework says of an exception that nothing caught. The work has ended with it.
  const isPlain =
    text?.trim() === "Internal Server Error" &&
    headers.get("content-type")?.startsWith("text/plain") === true;
  return status === 500 && (isFourfold || isPlain) ? "broken" : meaningOfError(status, words);
}
