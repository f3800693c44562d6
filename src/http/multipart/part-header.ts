import { AppError, invalid } from "../../domain/errors.ts";
import type { PartFault } from "../../domain/words/body-words.ts";
import { isUtf8, parseHeaderValue } from "./parameters.ts";

export interface PartHeader {
  readonly name: string;
  /** Whether the part has a file name. Only that distinguishes files from fields. */
  readonly isFile: boolean;
  /** Whether its file name is empty, as browsers send a file that was not chosen. */
  readonly isUnnamed: boolean;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const UNENCODED = ["7bit", "8bit", "binary"];

/**
 * Reads the header of a part (RFC 7578, section 4). Refuses what could be read in two ways; ignores unknown fields.
 * @param bytes from the end of the boundary before the part to the end of its last header
 * @param number of the part in the form, from 1; for messages
 * @throws AppError `invalid_request`, `unsupported_media_type`
 */
export function parsePartHeader(bytes: Uint8Array, number: number): PartHeader {
  const refuse = (fault: PartFault) => invalid({ kind: "part_header", part: number, fault });
  // One character for each byte, so that parts that are ignored, such as file names, may be in any encoding.
  const [padding = "", ...lines] = Buffer.from(bytes).toString("latin1").split("\r\n");
  if (padding.trim() !== "") throw refuse("not_on_own_line");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!TOKEN.test(name) || hasControls(line)) throw refuse("malformed");
    if (fields.has(name)) throw refuse("given_twice");
    fields.set(name, line.slice(colon + 1).trim());
  }

  const disposition = parseHeaderValue(fields.get("content-disposition") ?? "");
  if (disposition === undefined) throw refuse("disposition_malformed");
  if (disposition.value.toLowerCase() !== "form-data") throw refuse("not_form_data");
  const latin1 = disposition.parameters.get("name") ?? "";
  if (latin1 === "") throw refuse("no_name");
  const name = decodeUtf8(Buffer.from(latin1, "latin1"));
  if (name === undefined) throw refuse("name_not_utf8");
  const isFile = disposition.parameters.has("filename") || disposition.parameters.has("filename*");
  const isUnnamed = disposition.parameters.get("filename") === "" && !disposition.parameters.has("filename*");

  const encoding = fields.get("content-transfer-encoding");
  if (encoding !== undefined && !UNENCODED.includes(encoding.toLowerCase())) {
    throw new AppError("unsupported_media_type", { kind: "part_encoded", part: number, encoding });
  }
  const type = fields.get("content-type") ?? "";
  if (/^multipart\//i.test(type))
    throw new AppError("unsupported_media_type", { kind: "part_nested", part: number });
  const charset = isFile ? undefined : parseHeaderValue(type)?.parameters.get("charset");
  if (charset !== undefined && !isUtf8(charset)) {
    throw new AppError("unsupported_media_type", { kind: "part_charset", part: number, charset });
  }
  return { name, isFile, isUnnamed };
}

/** The text of UTF-8 bytes; undefined for other bytes. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function hasControls(line: string): boolean {
  for (let i = 0; i < line.length; i += 1) {
    const code = line.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true;
  }
  return false;
}
