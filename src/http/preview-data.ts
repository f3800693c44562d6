import type { JsonObject } from "../domain/json.ts";

/** Divisible by 3, so that the pieces' base64 can be joined. Small, because many slow clients may follow one task. */
const PIECE_BYTES = 48 * 1024;

/** The JSON of an event that shows a preview, piece by piece: `facts`, of which there is at least one, then `b64_json`. */
export async function* previewData(facts: JsonObject, bytes: Uint8Array): AsyncGenerator<string> {
  yield `${JSON.stringify(facts).slice(0, -1)},"b64_json":"`;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield Buffer.from(bytes.subarray(at, at + PIECE_BYTES)).toString("base64");
  }
  yield '"}';
}
