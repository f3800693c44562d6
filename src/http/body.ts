import { AppError, invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { MAX_JSON_BYTES } from "../domain/limits.ts";
import { parseJsonObject } from "./strict-json.ts";
import { check } from "./wire/check.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

const tooLarge = () => new AppError("request_too_large", { kind: "body_too_large", most: MAX_JSON_BYTES });

/** The JSON object of a request's body. @throws AppError `unsupported_media_type`, `request_too_large`, `invalid_request` */
export async function readJsonBody(request: Request): Promise<JsonObject> {
  const type = request.headers.get("content-type");
  if (type === null || !JSON_TYPE.test(type)) {
    const facts = { kind: "content_type", wanted: "application/json", given: type } as const;
    throw new AppError("unsupported_media_type", facts);
  }
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new AppError("unsupported_media_type", { kind: "content_encoding", given: encoding });
  }
  const bytes = await readBytes(request).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw invalid({ kind: "body_unfinished" });
  });
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (error) {
    throw invalid({ kind: "body_not_utf8" }, error);
  }
  return parseJsonObject(text);
}

/** A request's body, checked against the schema that `Body` stands for. @throws AppError as `readJsonBody` and `check` do */
export async function readBody<Body>(request: Request, schema: JsonObject): Promise<Body> {
  const body = await readJsonBody(request);
  check(schema, body);
  // The schema has checked that it is of this type.
  return body as Body;
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const length = request.headers.get("content-length");
  if (length !== null) {
    if (Number(length) > MAX_JSON_BYTES) throw tooLarge();
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_JSON_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
