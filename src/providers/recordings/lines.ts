import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { AnswerLine, CallLine, ExchangeLine, Missing, SentLine, Stored } from "./format.ts";

const CALLS = ["submit", "poll", "cancel", "recover", "fetchOutput"] as const;
const USES = ["call", "token", "file"] as const;
const REASONS = ["forbidden", "unreachable", "bad_status", "too_large", "timeout"] as const;

/** A line that tells of a call; undefined for any other. */
export function readCall(value: JsonObject): CallLine | undefined {
  const call = CALLS.find((each) => each === value.call);
  const { lane, came, threw } = value;
  if (call === undefined || typeof lane !== "string") return undefined;
  return { call, lane, with: value.with ?? null, came, threw };
}

/** A line that tells of an exchange; undefined for any other. */
export function readExchange({
  lane,
  at,
  sent,
  answer,
  none,
  ...more
}: JsonObject): ExchangeLine | undefined {
  const use = USES.find((each) => each === more.use);
  const read = { sent: readSent(sent), answer: readAnswer(answer), none: readMissing(none) };
  const isComplete = read.sent !== undefined && (read.answer !== undefined || read.none !== undefined);
  if (use === undefined || typeof at !== "string" || !isComplete) return undefined;
  const isUnsent = isJsonObject(none) && none.isUnsent === true;
  return {
    ...(typeof lane === "string" && { lane }),
    ...{ use, at, answer: read.answer, sent: read.sent as SentLine },
    none: read.none && { ...read.none, ...(isUnsent && { isUnsent }) },
  };
}

function readSent(value: Json | undefined): SentLine | undefined {
  if (!isJsonObject(value)) return undefined;
  const { method, url } = value;
  if (typeof method !== "string" || typeof url !== "string") return undefined;
  return { method, url, headers: readHeaders(value.headers), body: readStored(value.body) };
}

function readAnswer(value: Json | undefined): AnswerLine | undefined {
  if (!isJsonObject(value)) return undefined;
  const { status, headers, body, broken } = value;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599)
    return undefined;
  return { status, headers: readHeaders(headers), body: readStored(body), broken: readMissing(broken) };
}

function readHeaders(value: Json | undefined): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function readStored(value: Json | undefined): Stored | undefined {
  if (!isJsonObject(value)) return undefined;
  const { text, file, bytes, withheld } = value;
  if (typeof text === "string") return { text };
  if (typeof file === "string") return { file, bytes: Number(bytes) };
  return typeof withheld === "string" ? { withheld } : undefined;
}

function readMissing(value: Json | undefined): Missing | undefined {
  if (!isJsonObject(value) || typeof value.why !== "string") return undefined;
  const reason = REASONS.find((each) => each === value.reason);
  return { why: value.why, ...(value.isLate === true && { isLate: true }), ...(reason && { reason }) };
}
