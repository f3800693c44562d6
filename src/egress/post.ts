import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { EgressError } from "../domain/ports/egress.ts";
import type { Destination } from "./destination.ts";

export interface PinnedPost {
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly signal: AbortSignal;
  /** PEM of the authorities to trust instead of the public ones. */
  readonly ca?: string | undefined;
}

/** Answers with a status below 200 before the one that counts. */
const MAX_INTERIM = 16;

/**
 * POSTs to an address and to no other; the name goes into `Host` and into the check of the certificate. The connection is used
 * for this alone. Redirects come back as they are, nothing is unpacked, no proxy is used. Whoever takes the answer must destroy
 * it, which closes the connection.
 *
 * Not by `fetch`: the runtime has at most 256 of those under way in the whole process, so that receivers that hang would hold up
 * providers and files. (Bun 1.4.5, measured 2026-11-21.)
 */
export function postTo(
  { url, host, isLiteral }: Destination,
  address: string,
  { headers, body, signal, ca }: PinnedPost,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isSecure = url.protocol === "https:";
  const request = (isSecure ? requestHttps : requestHttp)({
    method: "POST",
    host: address,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    headers: {
      Host: url.host,
      Accept: "*/*",
      "Accept-Encoding": "identity",
      "Content-Length": String(Buffer.byteLength(body)),
      ...headers,
    },
    setHost: false,
    agent: false,
    ...(isSecure
      ? {
          rejectUnauthorized: true,
          ...(isLiteral ? {} : { servername: host.replace(/\.$/, "") }),
          ...(ca === undefined ? {} : { ca }),
        }
      : {}),
  });
  // A reset: a receiver that reads nothing would otherwise keep the system busy with the end of the connection.
  const giveUp = () => {
    request.socket?.resetAndDestroy();
    request.destroy(signal.reason);
  };
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  request.on("close", () => {
    signal.removeEventListener("abort", giveUp);
    // However it ended without a word.
    reject(new EgressError("unreachable", "closed the connection without an answer"));
  });
  let interim = 0;
  const onInterim = () => {
    interim += 1;
    if (interim > MAX_INTERIM)
      request.destroy(new EgressError("unreachable", "sends too many interim answers"));
  };
  request.on("continue", onInterim);
  request.on("information", onInterim);
  request.on("response", resolve);
  request.on("upgrade", (_answer, socket) => {
    socket.destroy();
    reject(new EgressError("unreachable", "switches to another protocol"));
  });
  // Also after the answer has begun, where nobody waits for it any more.
  request.on("error", reject);
  request.end(body);
  return promise;
}
