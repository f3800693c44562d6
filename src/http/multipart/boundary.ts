import { AppError, invalid } from "../../domain/errors.ts";
import { parseHeaderValue } from "./parameters.ts";

const MAX_CHARACTERS = 70;
/** RFC 2046, section 5.1.1: these characters, a space not at the end. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/;

/**
 * The boundary that a request's headers announce.
 * @throws AppError `unsupported_media_type` for anything but a plain form; `invalid_request` without a usable boundary
 */
export function boundaryOf(headers: Headers): string {
  const type = headers.get("content-type") ?? "";
  const [mediaType = ""] = type.split(";", 1);
  if (mediaType.trim().toLowerCase() !== "multipart/form-data") {
    const facts = { kind: "content_type", wanted: "multipart/form-data", given: type } as const;
    throw new AppError("unsupported_media_type", facts);
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new AppError("unsupported_media_type", { kind: "content_encoding", given: encoding });
  }
  const boundary = parseHeaderValue(type)?.parameters.get("boundary");
  if (boundary === undefined) throw invalid({ kind: "boundary_absent" });
  if (boundary.length > MAX_CHARACTERS) {
    throw invalid({ kind: "boundary_too_long", length: boundary.length, most: MAX_CHARACTERS });
  }
  if (!BOUNDARY.test(boundary)) throw invalid({ kind: "boundary_malformed", given: boundary });
  return boundary;
}
