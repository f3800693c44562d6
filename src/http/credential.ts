import { AppError } from "../domain/errors.ts";

/** `x-goog-api-key` and the like: a vendor's own name for its key header. */
const VENDOR_KEY = /^x-[a-z0-9]+-api-key$/;

/**
 * The credential of a request: `Authorization: Bearer`, then `x-api-key`, then any `x-<vendor>-api-key`, then `api-key` where the
 * synchronous images API is asked for, then the query's `key`. The first one present counts, empty or not, even if a later one
 * would be valid.
 * @param path of the endpoint
 * @returns undefined when none is present
 * @throws AppError `invalid_api_key` for an Authorization header of another form
 */
export function credentialOf(
  request: Request,
  query: () => URLSearchParams,
  path: string,
): string | undefined {
  const { headers } = request;
  const authorization = headers.get("authorization");
  if (authorization !== null) return bearer(authorization);
  const plain = headers.get("x-api-key");
  if (plain !== null) return plain;
  for (const [name, value] of headers) if (VENDOR_KEY.test(name)) return value;
  const short = path.startsWith("/compat/v1/") ? headers.get("api-key") : null;
  if (short !== null) return short;
  return request.url.includes("key=") ? (query().get("key") ?? undefined) : undefined;
}

function bearer(authorization: string): string {
  const match = /^bearer +(\S+) *$/i.exec(authorization);
  if (match?.[1] !== undefined) return match[1];
  throw new AppError("invalid_api_key", { kind: "authorization_malformed" });
}
