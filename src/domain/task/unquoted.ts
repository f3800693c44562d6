import { withoutStretches } from "../masked.ts";
import type { GenerationRequest } from "./request.ts";

/** Shorter stretches of a text are in many others as well. */
const TELLING = 16;
/** Shorter texts are ordinary words. */
const LEAST_WHOLE = 3;
/** So much of a text is searched. What comes after is left out, since it may quote as well. */
const MOST_SEARCHED = 10_000;
const MASK = "[quoted from the request]";

/**
 * A text of an upstream's without what it quotes of a request: the prompt and other long texts, whole or in stretches. Callers' texts
 * belong to nobody who reads logs, mail about trouble, or why a route is shut.
 */
export function unquoted(
  said: string,
  { prompt, parameters }: Pick<GenerationRequest, "prompt" | "parameters">,
): string {
  const long = Object.values(parameters).filter((each) => typeof each === "string" && each.length >= TELLING);
  let text = said.slice(0, MOST_SEARCHED);
  for (const each of [prompt ?? "", ...long]) text = withoutText(text, inOneLine(String(each)));
  return text;
}

/** As texts of upstreams are shown. */
const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();

function withoutText(text: string, quoted: string): string {
  if (quoted.length < LEAST_WHOLE) return text;
  if (quoted.length < TELLING) return withoutWhole(text, quoted);
  return withoutStretches(text, { length: TELLING, isPiece: (piece) => quoted.includes(piece), mask: MASK });
}

/** Without a short text, where it is not a part of a word. */
function withoutWhole(text: string, quoted: string): string {
  const isPart = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at));
  let clean = "";
  let doneTo = 0;
  for (let at = text.indexOf(quoted); at !== -1; at = text.indexOf(quoted, at + 1)) {
    if (at < doneTo || isPart(at - 1) || isPart(at + quoted.length)) continue;
    clean += text.slice(doneTo, at) + MASK;
    doneTo = at + quoted.length;
  }
  return clean + text.slice(doneTo);
}
