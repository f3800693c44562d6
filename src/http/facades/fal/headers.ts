import { invalid, mustBe } from "../../../domain/errors.ts";
import type { ModelId } from "../../../domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";

/** What a create requests by headers. */
export interface AskedHeaders {
  /** How long it may wait for its start, in milliseconds. */
  readonly startWithinMs?: number | undefined;
  /** How long its files stay, in seconds. */
  readonly retainSec?: number | undefined;
}

const TIMEOUT = "x-fal-request-timeout";
const PRIORITY = "x-fal-queue-priority";
const STORE = "x-fal-store-io";
export const LIFECYCLE = "x-fal-object-lifecycle-preference";

/** The longest start that is waited for, in seconds. */
const MOST_SEC = 86_400;

/**
 * Reads the headers that a create may have. `X-Fal-Runner-Hint` is a hint and `X-Fal-No-Retry` about retries that never charge twice here:
 * neither changes anything.
 * @throws AppError naming the header that says what cannot be done
 */
export function askedHeaders(headers: Headers, model: ModelId): AskedHeaders {
  const timeout = headers.get(TIMEOUT);
  const [priority, store] = [headers.get(PRIORITY), headers.get(STORE)];
  // A task of lower priority may start as soon as any other.
  if (priority !== null && priority !== "normal" && priority !== "low")
    throw mustBe(PRIORITY, { oneOf: ["normal", "low"] }, priority);
  if (store !== null && store !== "1") throw invalid({ kind: "unrouted_field", field: STORE, model });
  return {
    startWithinMs: timeout === null ? undefined : secondsIn(timeout) * 1000,
    retainSec: retentionIn(headers, LIFECYCLE, (field) => invalid({ kind: "unrouted_field", field, model })),
  };
}

function secondsIn(text: string): number {
  const seconds = /^\d{1,6}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds > 1 && seconds <= MOST_SEC) return seconds;
  throw mustBe(TIMEOUT, { seconds: { least: 1, most: MOST_SEC } }, text);
}

/**
 * How long files are to stay, in seconds, as a header says.
 * @param other the error for whatever else it asks for
 * @throws AppError naming the header
 */
export function retentionIn(
  headers: Headers,
  name: string,
  other: (name: string) => Error,
): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const { expiration_duration_seconds: seconds, ...others } = objectIn(text, name);
  if (Object.keys(others).length > 0) throw other(name);
  if (seconds === undefined) return undefined;
  if (typeof seconds === "number" && Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw mustBe(name, { form: "json" }, text);
}

function objectIn(text: string, name: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  throw mustBe(name, { form: "json" }, text);
}
