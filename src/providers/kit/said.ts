import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { UpstreamAnswer } from "./answer.ts";

/** The content of an error answer, in any of the usual shapes. */
export interface ErrorWords {
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly message?: string | undefined;
  /** Said by the application itself, in JSON under a name that only errors have. Anything on the way may have said the rest. */
  readonly isApplications: boolean;
}

/**
 * Reads `{error: {code, type, message}}`, `{error: "…"}`, `{errors: […]}`, `{detail: "…"}`, `{detail: [{loc, msg, type}]}`,
 * `{message}`, and, where the answer is not JSON, its text or the title of its page.
 */
export function readErrorWords({ json, text }: Pick<UpstreamAnswer, "json" | "text">): ErrorWords {
  const body = Array.isArray(json) ? json[0] : json;
  if (!isJsonObject(body)) return { message: textIn(body) ?? shownText(text), isApplications: false };
  const told = firstOf(body.error) ?? firstOf(body.errors) ?? firstOf(body.detail);
  const rest = { code: textIn(body.code), type: textIn(body.type), message: textIn(body.message) };
  if (told === undefined)
    return { ...rest, message: rest.message ?? textIn(body.title), isApplications: false };
  if (typeof told !== "string") return { ...wordsOf(told), isApplications: true };
  // `{error: "not_found", message: "There is no such job."}`
  const isWord = rest.message !== undefined && /^[\w.-]{1,64}$/.test(told);
  return isWord
    ? { ...rest, code: rest.code ?? told, isApplications: true }
    : { ...rest, message: told, isApplications: true };
}

/** A text that says something. */
export function textIn(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function firstOf(value: Json | undefined): string | JsonObject | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return isJsonObject(first) ? first : textIn(first);
}

function wordsOf(error: JsonObject): Omit<ErrorWords, "isApplications"> {
  const message = textIn(error.message) ?? textIn(error.msg) ?? textIn(error.detail) ?? textIn(error.error);
  const field = Array.isArray(error.loc) ? error.loc.filter((part) => part !== "body").join(".") : "";
  return {
    code: textIn(error.code),
    type: textIn(error.type),
    message: message !== undefined && field !== "" ? `${field}: ${message}` : message,
  };
}

/** The title of a page, or a short text that is none. */
function shownText(text: string | undefined): string | undefined {
  if (text === undefined || !/^\s*</.test(text)) return textIn(text);
  return textIn(/<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]);
}

/** `Please try again in 1m30s`, `Please retry in 34.4s`, `Your rate limit resets in ~30 seconds`. */
const WAIT =
  /\b(?:try again|retry|resets?) in ~?\s?((?:\d{1,9}(?:\.\d{1,9})?\s?(?:ms|milli|s|m|h)[a-z]{0,7}\s?){1,3})/i;
const PART = /([\d.]+)\s?(ms|milli|s|m|h)/gi;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** How long a message asks to wait, in milliseconds: what stands before an upstream may drop the header that says so, too. */
export function waitIn(message: string | undefined): number | undefined {
  const [, told] = WAIT.exec(message ?? "") ?? [];
  if (told === undefined) return undefined;
  const parts = [...told.matchAll(PART)].map(
    ([, count, unit = ""]) => Number(count) * (UNIT_MS[unit.toLowerCase()] ?? 0),
  );
  return Math.ceil(parts.reduce((sum, ms) => sum + ms, 0));
}
