import type { AppError } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { component, list, text } from "../../wire/schema.ts";
import type { Manners, ToldError } from "../manners.ts";

/** Every path of the API but a few. */
export const BASE = "/sdapi/v1";
/** What clients ask for outside of it: whether the server is there, and where one of their calls is. */
export const QUEUE = "/queue/status";
export const PING = "/internal/ping";
export const OWN_PROGRESS = "/internal/progress";

const STATUSES = { invalid_request: 422 } as const;

const PROBLEM = {
  title: "Automatic1111Error",
  oneOf: [
    component("Automatic1111FieldError", {
      detail: list({
        type: "object",
        required: ["loc", "msg", "type"],
        properties: {
          loc: list(
            { type: ["string", "integer"] },
            { description: "`body` or `query`, and the path of the field where one is at fault." },
          ),
          msg: text("For people."),
          type: text("`json_invalid`, or `value_error`."),
        },
        additionalProperties: false,
      }),
    }),
    component("Automatic1111OtherError", {
      error: text("Stable machine code."),
      detail: text("For people."),
      body: text("Always empty."),
      errors: text("The same as `detail`."),
    }),
  ],
};

/**
 * How errors read there (modules/api/api.py of AUTOMATIC1111 and Forge, checked 2026-11-27): what is wrong with a request is told as its
 * web framework tells it, everything else in four texts, of which clients show `detail` or `errors`.
 */
export const AUTOMATIC1111: Manners = {
  name: "automatic1111",
  base: BASE,
  others: [QUEUE, PING, OWN_PROGRESS],
  schemes: ["basic"],
  statuses: STATUSES,
  tell,
  schema: PROBLEM,
};

function tell(error: AppError, status: number): ToldError {
  const { code, message, param, facts } = error;
  if (code === "invalid_request") {
    const type = facts.kind === "body_not_json" ? "json_invalid" : "value_error";
    return {
      status: STATUSES.invalid_request,
      body: { detail: [{ loc: placeOf(param), msg: message, type }] },
    };
  }
  const body: JsonObject = { error: code, detail: message, body: "", errors: message };
  return status === 401 ? { headers: { "WWW-Authenticate": 'Basic realm="svc", Bearer' }, body } : { body };
}

/** The one field that is read from a query. */
const OF_QUERY = "skip_current_image";

/** Where a field is, as that API says it: `["body", "init_images", 0]`. */
function placeOf(param = ""): Json[] {
  const path = param
    .split(/[.[\]]+/)
    .filter((each) => each !== "")
    .map((each) => (/^\d+$/.test(each) ? Number(each) : each));
  return [param === OF_QUERY ? "query" : "body", ...path];
}
