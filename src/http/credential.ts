import { AppError } from "../domain/errors.ts";
import { mannersOf } from "./facades/spoken.ts";

/** `x-api-key`, and vendors' own names for it, such as `x-goog-api-key`. */
const KEY_HEADER = /^x-(?:[a-z0-9-]+-)?api-key$/;
/** A scheme, and what it is followed by. Where several parts could take the same spaces, a long header would take seconds. */
const AUTHORIZATION = /^([a-z]+)(?: +(\S+))?$/i;

/**
 * The credential of a request, in whichever of its forms it came: `Authorization: Bearer`, `x-api-key`, any `x-<vendor>-api-key`,
 * `api-key` where the synchronous images API is asked for, the query's `key`, and below a facade's base the schemes that its clients
 * have: `Basic` has the key as its password, or as its name where there is no password. Empty ones count as absent.
 * @param path of the endpoint
 * @returns undefined when none is present
 * @throws AppError `invalid_api_key` for an Authorization header of another form, and for two credentials that differ
 */
export function credentialOf(
  request: Request,
  query: () => URLSearchParams,
  path: string,
): string | undefined {
  const { headers } = request;
  const authorization = headers.get("authorization");
  let found = authorization === null ? undefined : keyIn(authorization, path);
  for (const name of headers.keys()) {
    // This first test is cheap, and nearly all headers fail it.
    if (!name.endsWith("api-key")) continue;
    const isKey = KEY_HEADER.test(name) || (name === "api-key" && path.startsWith("/compat/v1/"));
    if (isKey) found = onlyOne(found, headers.get(name));
  }
  if (!request.url.includes("key=")) return found;
  return query().getAll("key").reduce<string | undefined>(onlyOne, found);
}

/** Adds the values of a header, which is a list if the header came several times. */
function onlyOne(found: string | undefined, given: string | null): string | undefined {
  if (given === null || given === "" || given === found) return found;
  if (given.includes(",")) return given.split(",").reduce(onlyOneTrimmed, found);
  if (found === undefined) return given;
  throw new AppError("invalid_api_key", { kind: "credentials_differ" });
}

function onlyOneTrimmed(found: string | undefined, given: string): string | undefined {
  return onlyOne(found, given.trim());
}

function keyIn(authorization: string, path: string): string | undefined {
  if (authorization.includes(",")) {
    return authorization
      .split(",")
      .map((each) => keyIn(each.trim(), path))
      .reduce<string | undefined>((found, each) => onlyOne(found, each ?? null), undefined);
  }
  const given = authorization.trim();
  if (given === "") return undefined;
  const [, name = "", text] = AUTHORIZATION.exec(given) ?? [];
  const scheme = name.toLowerCase();
  if (scheme === "bearer") return text;
  if (text === undefined || !mannersOf(path)?.schemes.includes(scheme))
    throw new AppError("invalid_api_key", { kind: "authorization_malformed" });
  return (scheme === "basic" ? passwordIn(text) : text) || undefined;
}

function passwordIn(text: string): string {
  const [name = "", ...password] = Buffer.from(text, "base64").toString().split(":");
  return password.join(":") || name;
}
