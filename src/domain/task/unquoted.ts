import type { GenerationRequest } from "./request.ts";

/** Shorter stretches of a text are in many others as well. */
const TELLING = 16;
/** Shorter texts are ordinary words. */
const LEAST_WHOLE = 3;
/** Looked for in this much of a text. */
const MOST_SEARCHED = 2_000;
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
  return text === said.slice(0, MOST_SEARCHED) ? said : text;
}

/** As texts of upstreams are shown. */
const inOneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();

function withoutText(text: string, quoted: string): string {
  if (quoted.length < LEAST_WHOLE) return text;
  return quoted.length < TELLING ? withoutWhole(text, quoted) : withoutStretches(text, quoted);
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

function withoutStretches(text: string, quoted: string): string {
  let clean = "";
  let doneTo = 0;
  for (let at = 0; at + TELLING <= text.length; at++) {
    if (!quoted.includes(text.slice(at, at + TELLING))) continue;
    if (at > doneTo || doneTo === 0) clean += text.slice(doneTo, at) + MASK;
    doneTo = at + TELLING;
  }
  return clean + text.slice(doneTo);
}
