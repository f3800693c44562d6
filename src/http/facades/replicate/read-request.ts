import { invalid, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";

/** A body that creates a prediction. */
export interface PredictionBody {
  readonly input: JsonObject;
  /** The model or the version, and the field that says so. Absent where the path names the model. */
  readonly reference?: { readonly text: string; readonly field: "version" | "model" } | undefined;
  readonly webhook?: string | undefined;
  readonly events?: readonly WebhookEvent[] | undefined;
}

/** What a caller can be told of, in that API's words. */
export const WEBHOOK_EVENTS = ["start", "output", "logs", "completed"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** A defect of `replicate` 1.4.0. What it was to send is nowhere in the request, so that it can only be named. */
const OWN_SETTINGS =
  'be what the model takes, and is the settings of the client: replicate sends those where its fileEncodingStrategy is "data-uri". Leave that out, or make it "upload"';

/** Fields that say nothing here are ignored, as `stream`, which that API no longer needs. @throws AppError naming the field at fault */
export function predictionIn(body: JsonObject): PredictionBody {
  const { input, version, model, webhook, webhook_events_filter: events } = body;
  if (input === undefined || input === null) throw invalid({ kind: "required", field: "input" });
  if (!isJsonObject(input)) throw mustBe("input", { types: ["object"] }, shown(input));
  if (typeof input.fileEncodingStrategy === "string") throw mustBe("input", { rule: OWN_SETTINGS });
  const [field, reference] =
    version === undefined || version === null ? (["model", model] as const) : (["version", version] as const);
  if (reference !== undefined && reference !== null && typeof reference !== "string")
    throw mustBe(field, { form: "text" }, shown(reference));
  if (webhook !== undefined && webhook !== null && typeof webhook !== "string")
    throw mustBe("webhook", { form: "text" }, shown(webhook));
  return {
    input,
    reference: typeof reference === "string" ? { text: reference, field } : undefined,
    webhook: typeof webhook === "string" && webhook !== "" ? webhook : undefined,
    events: events === undefined || events === null ? undefined : eventsIn(events),
  };
}

function eventsIn(given: Json): readonly WebhookEvent[] {
  if (!Array.isArray(given)) throw mustBe("webhook_events_filter", { types: ["array"] }, shown(given));
  return given.map((event: Json, i) => {
    const known = WEBHOOK_EVENTS.find((each) => each === event);
    if (known !== undefined) return known;
    throw mustBe(`webhook_events_filter[${i}]`, { oneOf: WEBHOOK_EVENTS }, shown(event));
  });
}

const shown = (json: Json) => ({ json });

/** The longest that a call waits, and where it does not say how long. */
const MOST_WAIT_SEC = 60;

/** One of the preferences that `Prefer` lists (RFC 7240). */
const WAIT = /^wait(?:=(?:(\d+)|"(\d+)"))?$/i;

/**
 * How long a create is to wait for its prediction, in milliseconds; undefined where it is not. A longer wait than there is becomes that;
 * a preference that cannot be read is none, as RFC 7240 has it.
 */
export function waitIn({ headers }: Request): number | undefined {
  const prefer = headers.get("prefer");
  if (prefer === null) return undefined;
  const preferences = prefer.split(/[,;\s]+/);
  const [wait] = preferences.map((each) => WAIT.exec(each)).filter((found) => found !== null);
  if (wait === undefined) return undefined;
  const seconds = Number(wait[1] ?? wait[2] ?? MOST_WAIT_SEC);
  return Math.min(Math.max(seconds, 1), MOST_WAIT_SEC) * 1000;
}

const LEAST_LIFE_SEC = 5;
const MOST_LIFE_SEC = 7 * 24 * 3600;
const LIFE = /^(?:(\d{1,9})|(?=\d)(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?)$/;

/** `Cancel-After` in milliseconds: `30`, `90s`, `5m`, `1h30m45s`. @throws AppError naming the header */
export function cancelAfterIn({ headers }: Request): number | undefined {
  const given = headers.get("cancel-after");
  if (given === null) return undefined;
  const [matched, plain = 0, hours = 0, minutes = 0, seconds = 0] = (LIFE.exec(given.trim()) ?? []).map(
    (part: string | undefined, i) => (i === 0 ? 1 : Number(part ?? 0)),
  );
  const wholeSec = plain + hours * 3600 + minutes * 60 + seconds;
  if (matched !== undefined && wholeSec >= LEAST_LIFE_SEC && wholeSec <= MOST_LIFE_SEC)
    return wholeSec * 1000;
  const rule = 'be a time from 5 seconds to 168 hours, such as "30s", "5m" or "1h30m"';
  throw mustBe("Cancel-After", { rule }, { json: given });
}
