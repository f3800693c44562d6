import { AppError } from "../../domain/errors.ts";
import type { Presented } from "../../service/authenticate.ts";
import { credentialOf } from "../credential.ts";
import type { Exchange } from "../exchange.ts";

const COOKIE = "svc_session";
const SESSION = new RegExp(`(?:^|;)\\s*${COOKIE}=([^;\\s]*)`, "g");
/** The only paths that a browser sends it to. */
const PATHS = ["/v1", "/admin/v1", "/console/session"];
const CHANGES_NOTHING = ["GET", "HEAD"];

/**
 * What a request shows of its caller: the credential it names, or the session of a browser at the console.
 *
 * @param path of the endpoint
 * @throws AppError `invalid_api_key` as `credentialOf` does, and for a session beside a credential or beside another session;
 *   `permission_denied` for a session that a page of another origin makes use of
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

/** The secret in the session's cookie. @throws AppError `invalid_api_key` for two that differ */
export function sessionOf({ headers }: Request): string | undefined {
  const cookies = headers.get("cookie");
  if (cookies === null || !cookies.includes(COOKIE)) return undefined;
  const [secret, ...others] = new Set([...cookies.matchAll(SESSION)].map(([, value = ""]) => value));
  // Another host of the domain may have planted one, to have the browser act for somebody else.
  if (others.length > 0) throw new AppError("invalid_api_key", { kind: "credentials_differ" });
  return secret === "" ? undefined : secret;
}

/**
 * Checks that a browser's request comes from a page of this service. Browsers say so in `Sec-Fetch-Site` where they reach it over
 * TLS or on the same machine, and in `Origin` with everything that may change something.
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

/** `Set-Cookie` headers that give a browser its session. @param origin by which the browser reaches this service */
export function sessionCookies(secret: string, origin: string, maxAgeSec: number): string[] {
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return PATHS.map(
    (path) => `${COOKIE}=${secret}; Path=${path}; Max-Age=${maxAgeSec}; HttpOnly; SameSite=Strict${secure}`,
  );
}

/** The same, to take it back. */
export function noSessionCookies(origin: string): string[] {
  return sessionCookies("", origin, 0);
}
