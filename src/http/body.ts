import { AppError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { MAX_JSON_BYTES } from "../domain/limits.ts";
import { parseJsonObject } from "./strict-json.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const JSON_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

const tooLarge = () => new AppError("request_too_large", `The body is larger than ${MAX_JSON_BYTES} bytes.`);

/**
 * The JSON object of a request's body.
 *
 * @throws AppError `unsupported_media_type`, `request_too_large`, `invalid_request`
 */
export async function readJsonBody(request: Request): Promise<JsonObject> {
  const type = request.headers.get("content-type");
  if (type === null || !JSON_TYPE.test(type)) {
    throw new AppError(
      "unsupported_media_type",
      `Content-Type must be application/json${type === null ? "" : `, got "${type.slice(0, 80)}"`}.`,
    );
  }
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Encoding "${encoding.slice(0, 80)}" is not taken; send the body as it is.`,
    );
  }
  const bytes = await readBytes(request).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_request", "The body ended before it was complete.");
  });
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (error) {
    throw new AppError("invalid_request", "The body is not valid UTF-8.", {}, error);
  }
  return parseJsonObject(text);
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
