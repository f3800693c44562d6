import type { Ids } from "../domain/ports/runtime.ts";
import type { Connection } from "./exchange.ts";

export interface CorsDeps {
  /** The origins whose pages may read answers; `*` allows all. They may change. */
  readonly cors: { readonly origins: readonly string[] };
  readonly ids: Ids;
}

type Handle = (request: Request, connection: Connection) => Response | Promise<Response>;

/** Headers of answers that scripts may read in addition to the few that are always readable. */
const EXPOSED = [
  ...["X-Request-ID", "X-Request-Cost", "X-Idempotent-Replay", "X-Task-Id", "X-Svc-Adjusted"],
  ...["Preference-Applied", "Retry-After", "retry-after-ms", "x-should-retry"],
  ...["RateLimit", "RateLimit-Policy", "WWW-Authenticate", "Allow"],
  ...["ETag", "Accept-Ranges", "Content-Range", "Content-Length"],
  // Clients of other APIs read these.
  ...["X-Goog-Upload-URL", "X-Goog-Upload-Status", "X-Goog-Upload-Size-Received", "Mcp-Session-Id"],
  ...["X-Fal-Request-Id", "X-Fal-Error-Type", "X-Fal-Retryable", "X-Fal-Request-Timeout-Type"],
].join(", ");
const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, QUERY";
/** Browsers keep the answer to a preflight no longer than two hours. */
const PREFLIGHT_SEC = 7200;
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:\s*,\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+)*$/;

/**
 * Lets pages of the given origins read every answer, including errors and streams, and answers preflight requests. Never allows
 * cookies: only the console has one, and only its own pages send it.
 */
export function withCors(handle: Handle, { cors, ids }: CorsDeps): Handle {
  function allow(request: Request, headers: Headers): boolean {
    const { origins } = cors;
    const isAny = origins.includes("*");
    // A cache may hold the answer to a request from another origin.
    if (!isAny) headers.append("Vary", "Origin");
    const origin = request.headers.get("origin");
    if (origin === null || !(isAny || origins.includes(origin))) return false;
    headers.set("Access-Control-Allow-Origin", isAny ? "*" : origin);
    return true;
  }

  function preflight(request: Request): Response {
    const headers = new Headers({ "X-Request-ID": ids.create("req") });
    if (allow(request, headers)) {
      headers.set("Access-Control-Allow-Methods", METHODS);
      headers.set("Access-Control-Max-Age", String(PREFLIGHT_SEC));
      const wanted = request.headers.get("access-control-request-headers");
      if (wanted !== null && HEADER_NAMES.test(wanted)) headers.set("Access-Control-Allow-Headers", wanted);
    }
    return new Response(null, { status: 204, headers });
  }

  async function crossing(request: Request, connection: Connection): Promise<Response> {
    if (request.method === "OPTIONS" && request.headers.has("access-control-request-method")) {
      return preflight(request);
    }
    const response = await handle(request, connection);
    if (allow(request, response.headers)) response.headers.set("Access-Control-Expose-Headers", EXPOSED);
    return response;
  }

  return (request, connection) =>
    cors.origins.length === 0 ? handle(request, connection) : crossing(request, connection);
}
