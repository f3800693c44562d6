import { AppError, type ErrorCode } from "../../domain/errors.ts";
import { parseHeaderValue } from "./parameters.ts";

export interface PartHeader {
  readonly name: string;
  /** Whether it came with a file name, which is all that tells files from fields. */
  readonly isFile: boolean;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const UNENCODED = ["7bit", "8bit", "binary"];
const CHARSETS = ["utf-8", "utf8", "us-ascii"];

/**
 * Reads the header of a part (RFC 7578 §4). What may be read in two ways is refused; fields it does not know are ignored.
 *
 * @param bytes from the end of the boundary before the part to the end of its last header
 * @param number of the part in the form, from 1; for messages
 * @throws AppError `invalid_request`, `unsupported_media_type`
 */
export function parsePartHeader(bytes: Uint8Array, number: number): PartHeader {
  const refuse = (what: string, code: ErrorCode = "invalid_request") =>
    new AppError(code, `Part ${number} of the form ${what}.`);
  // One character a byte, so that what is not looked at, as file names, may be in any encoding.
  const [padding = "", ...lines] = Buffer.from(bytes).toString("latin1").split("\r\n");
  if (padding.trim() !== "") throw refuse("does not start on a line of its own after its boundary");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (!TOKEN.test(name) || hasControls(line)) throw refuse("has a malformed header");
    if (fields.has(name)) throw refuse("has a header twice");
    fields.set(name, line.slice(colon + 1).trim());
  }

  const disposition = parseHeaderValue(fields.get("content-disposition") ?? "");
  if (disposition === undefined) throw refuse("has a malformed Content-Disposition");
  if (disposition.value.toLowerCase() !== "form-data")
    throw refuse("has no Content-Disposition of form-data");
  const latin1 = disposition.parameters.get("name") ?? "";
  if (latin1 === "") throw refuse("has no name");
  const name = decodeUtf8(Buffer.from(latin1, "latin1"));
  if (name === undefined) throw refuse("has a name that is not valid UTF-8");
  const isFile = disposition.parameters.has("filename") || disposition.parameters.has("filename*");

  const encoding = fields.get("content-transfer-encoding");
  if (encoding !== undefined && !UNENCODED.includes(encoding.toLowerCase())) {
    throw refuse(
      `has Content-Transfer-Encoding "${encoding.slice(0, 80)}"; send its content as it is`,
      "unsupported_media_type",
    );
  }
  const type = fields.get("content-type") ?? "";
  if (/^multipart\//i.test(type)) throw refuse("is a form itself", "unsupported_media_type");
  const charset = isFile ? undefined : parseHeaderValue(type)?.parameters.get("charset");
  if (charset !== undefined && !CHARSETS.includes(charset.toLowerCase())) {
    throw refuse(
      `is in charset "${charset.slice(0, 80)}", where UTF-8 is expected`,
      "unsupported_media_type",
    );
  }
  return { name, isFile };
}

/** Text of UTF-8 bytes, or undefined when they are not. */
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
