import type { Json } from "./json.ts";

/**
 * RFC 8785 canonical JSON: equal values give equal text. Leaves out `undefined` members, as `JSON.stringify` does.
 * https://www.rfc-editor.org/rfc/rfc8785 (checked 2026-11-21).
 */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined) return "null";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    // `value` is an object here and `name` one of its own keys.
    const member = (value as { [key: string]: Json | undefined })[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(member)}`);
  }
  return `{${members.join(",")}}`;
}
