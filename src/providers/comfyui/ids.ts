import { createHash } from "node:crypto";

/** A UUID that follows from a text, so that a prompt can be asked for by the attempt that it was sent for. */
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

/** A seed that follows from a text, of those that a request may ask for too. */
export function seedOf(text: string): number {
  return createHash("sha256").update(`seed ${text}`).digest().readUInt32BE(0);
}
