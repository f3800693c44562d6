import { isJsonObject } from "../../domain/json.ts";
import { parseJson } from "../kit/json-answer.ts";

/** A picture of what is being made, and the prompt it is of, where the frame says so. */
export interface PictureFrame {
  readonly promptId: string | undefined;
  readonly image: Uint8Array;
}

/** Kinds of binary frames (protocol.py, 2025-10). */
const PREVIEW = 1;
const PREVIEW_WITH_METADATA = 4;

/** Reads a binary frame: its kind, then what belongs to the kind, big-endian. @returns undefined for one without an encoded picture */
export function readFrame(bytes: Uint8Array): PictureFrame | undefined {
  if (bytes.length < 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = view.getUint32(0);
  // What follows is the format, which the picture says itself.
  if (kind === PREVIEW) return { promptId: undefined, image: bytes.subarray(8) };
  if (kind !== PREVIEW_WITH_METADATA) return undefined;
  const length = view.getUint32(4);
  if (length > bytes.length - 8) return undefined;
  const metadata = parseJson(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const id = isJsonObject(metadata) ? metadata.prompt_id : undefined;
  return { promptId: typeof id === "string" ? id : undefined, image: bytes.subarray(8 + length) };
}
