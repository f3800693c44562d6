import { AppError } from "../../domain/errors.ts";
import type { Presented } from "../../service/authenticate.ts";
import { credentialOf } from "../credential.ts";
import type { Exchange } from "../exchange.ts";

const COOKIE = "svc_session";
const SESSION = new RegExp(`(?:^|;)\\s*${COOKIE}=([^;\\s]*)`, "g");
/** Browsers send the cookie only to these paths. */
const PATHS = ["/v1", "/admin/v1", "/console/session"];
const CHANGES_NOTHING = ["GET", "HEAD"];

/**
 * The credential of a request: the one that it names, or the session of a browser at the console.
 *
 * @param path the endpoint's path
 * @throws AppError `invalid_api_key` like `credentialOf`, and for a session together with a credential or with another session;
 * `permission_denied` if a page of another origin uses the session
 */
export function presentedBy(
  exchange: Pick<Exchange, "request" | "query">,
  path: string,
): Presented | undefined {
  const { request, query } = exchange;
  const credential = credentialOf(request, query, path);
  const session = sessionOf(request);
  if (session === undefined) return credential;
  if (credential !== undefined) throw new AppError("invalid_api_key", { kind: "credentials_differ" });
  requireOwnPage(request);
  return { session };
}

/** The secret in the session's cookie. @throws AppError `invalid_api_key` for two different secrets */
export function sessionOf({ headers }: Request): string | undefined {
  const cookies = headers.get("cookie");
  if (cookies === null || !cookies.includes(COOKIE)) return undefined;
  const [secret, ...others] = new Set([...cookies.matchAll(SESSION)].map(([, value = ""]) => value));
  // Another host of the domain may have planted one, so that the browser acts for somebody else.
  if (others.length > 0) throw new AppError("invalid_api_key", { kind: "credentials_differ" });
  return secret === "" ? undefined : secret;
}

/**
 * Checks that a browser's request comes from a page of this service. Browsers say so in `Sec-Fetch-Site` if they use TLS or run
 * on the same machine, and in `Origin` with every request that may change something.
 *
 * @throws AppError `permission_denied`
 */
export function requireOwnPage({ method, headers }: Request): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isRead = CHANGES_NOTHING.includes(method);
  const isOwn =
    site === null
      ? origin === null
        ? isRead
        : hostOf(origin) === headers.get("host")?.toLowerCase()
      : site === "same-origin" || (site === "none" && isRead);
  if (!isOwn) throw new AppError("permission_denied", { kind: "other_origin" });
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** `Set-Cookie` headers that give a browser its session. @param origin the origin at which the browser reaches this service */
export function sessionCookies(secret: string, origin: string, maxAgeSec: number): string[] {
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return PATHS.map(
    (path) => `${COOKIE}=${secret}; Path=${path}; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Strict${secure}`,
  );
}

/** The same headers to remove the session. */
export function noSessionCookies(origin: string): string[] {
  return sessionCookies("", origin, 0);
}
