import { createHash } from "node:crypto";

/** A UUID derived from a text, so that a prompt can be found by the attempt for which it was sent. */
export function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}

/** A seed derived from a text, within the range that a request may also ask for. */
export function seedOf(text: string): number {
  return createHash("sha256").update(`seed ${text}`).digest().readUInt32BE(0);
}
