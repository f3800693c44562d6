import { AppError } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { MAX_JSON_BYTES } from "../domain/limits.ts";
import type { Exchange, KeyedExchange, ManagedExchange } from "./exchange.ts";
import { isUtf8, parseHeaderValue } from "./multipart/parameters.ts";
import {
  type InlineReceiver,
  type JsonBody,
  type ParseBody,
  readJsonPieces,
  readWholeJson,
} from "./read-json.ts";
import { requireStanding } from "./standing.ts";
import { parseJson, parseJsonObject } from "./strict-json.ts";
import { check } from "./wire/check.ts";

const JSON_TYPE = "application/json";
/** What paths take that have both. */
export const FORM_OR_JSON = `multipart/form-data or ${JSON_TYPE}`;

/** As nearly everybody writes it. */
const USUAL_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

/** A request whose body is JSON. */
export type JsonExchange = Pick<Exchange, "request" | "intake">;

/**
 * The JSON object of a request's body.
 *
 * @param receiver stores the content of data URIs; without one they count as text
 * @param wanted the types of a body that the path takes, for who sends another one
 * @throws AppError `unsupported_media_type`, `request_too_large`, `invalid_request`
 */
export function readJsonBody(
  exchange: JsonExchange,
  receiver?: InlineReceiver,
  wanted: string = JSON_TYPE,
): Promise<JsonBody> {
  return readAs(exchange, receiver, parseJsonObject, wanted);
}

/**
 * The same for a body that may be any JSON, such as a list. @throws AppError like `readJsonBody`, except that it need not be an
 * object
 */
export function readAnyJsonBody(exchange: JsonExchange, receiver?: InlineReceiver): Promise<JsonBody<Json>> {
  return readAs(exchange, receiver, parseJson);
}

async function readAs<Body>(
  { request, intake }: JsonExchange,
  receiver: InlineReceiver | undefined,
  parse: ParseBody<Body>,
  wanted: string = JSON_TYPE,
): Promise<JsonBody<Body>> {
  checkType(request.headers, wanted);
  const small = intake.small();
  if (small !== undefined) {
    return { body: readWholeJson(await small, parse), inlineFiles: undefined, discard: undefined };
  }
  return intake.receive(MAX_JSON_BYTES, (body) => readJsonPieces(body, receiver, parse));
}

/**
 * A request's body, checked against the schema that `Body` stands for.
 *
 * @throws AppError like `readJsonBody` and `check`; the refusal if the caller may no longer act when the body has arrived
 */
export async function readBody<Body>(
  exchange: JsonExchange & Pick<KeyedExchange | ManagedExchange, "standing">,
  schema: JsonObject,
): Promise<Body> {
  const { body } = await readJsonBody(exchange);
  requireStanding(exchange.standing);
  check(schema, body);
  // The schema has checked that it is of this type.
  return body as Body;
}

/** The same for a body that may be left out. */
export async function optionalBody(exchange: KeyedExchange, schema: JsonObject): Promise<JsonObject> {
  const { body, headers } = exchange.request;
  if (body !== null && headers.get("content-length") !== "0") return readBody(exchange, schema);
  requireStanding(exchange.standing);
  return {};
}

function checkType(headers: Headers, wanted: string): void {
  const type = headers.get("content-type");
  if (type === null || !isJson(type)) {
    const facts = { kind: "content_type", wanted, given: type } as const;
    throw new AppError("unsupported_media_type", facts);
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new AppError("unsupported_media_type", { kind: "content_encoding", given: encoding });
  }
}

/** Whether a type is JSON in UTF-8. Other parameters than the charset mean nothing (RFC 8259, section 11). */
function isJson(type: string): boolean {
  if (USUAL_TYPE.test(type)) return true;
  const read = parseHeaderValue(type);
  if (read?.value.toLowerCase() !== "application/json") return false;
  const charset = read.parameters.get("charset");
  return charset === undefined || isUtf8(charset);
}
