import { AppError } from "../../domain/errors.ts";
import { parseHeaderValue } from "./parameters.ts";

const MAX_CHARACTERS = 70;
/** RFC 2046 §5.1.1: these characters, a space not at the end. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/;

/**
 * The boundary that a request's headers announce.
 *
 * @throws AppError `unsupported_media_type` for anything but a form, or one that is encoded; `invalid_request` without a usable boundary
 */
export function boundaryOf(headers: Headers): string {
  const type = headers.get("content-type") ?? "";
  const [mediaType = ""] = type.split(";", 1);
  if (mediaType.trim().toLowerCase() !== "multipart/form-data") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Type must be multipart/form-data${type === "" ? "" : `, got "${type.slice(0, 80)}"`}.`,
    );
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Encoding "${encoding.slice(0, 80)}" is not taken; send the body as it is.`,
    );
  }
  const boundary = parseHeaderValue(type)?.parameters.get("boundary");
  if (boundary === undefined) throw invalid("Content-Type must name one boundary");
  if (boundary.length > MAX_CHARACTERS) {
    throw invalid(
      `The boundary in Content-Type has ${boundary.length} characters, where at most ${MAX_CHARACTERS} are taken`,
    );
  }
  if (!BOUNDARY.test(boundary)) {
    throw invalid(
      `The boundary in Content-Type must be of letters, digits and '()+_,-./:=?, got "${boundary}"`,
    );
  }
  return boundary;
}

function invalid(what: string): AppError {
  return new AppError("invalid_request", `${what}.`);
}
