import { type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";
import { EgressError } from "../domain/ports/egress.ts";
import { type Line, OWN } from "./connections.ts";
import type { Destination } from "./destination.ts";
import type { PinnedRequest } from "./pinned.ts";

type Post = PinnedRequest & { readonly body: string; readonly line?: Line };

/** Interim answers (status below 200) accepted before the final one. */
const MAX_INTERIM = 16;

/**
 * POSTs to one address and no other; the name goes into `Host` and into the certificate check. The connection is that of `line`, one for
 * this request alone unless given. Returns redirects unfollowed, unpacks nothing and uses no proxy. The caller must read the answer to its end,
 * or destroy it, which closes the connection.
 *
 * Does not use `fetch`: the runtime allows 256 fetches at once in the whole process, so receivers that hang would block
 * providers and files. (Bun 1.4.5, measured 2026-11-21.)
 */
export function postTo(destination: Destination, address: string, post: Post): Promise<IncomingMessage> {
  const { body, signal, line = OWN } = post;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isSecure = destination.url.protocol === "https:";
  const request = (isSecure ? requestHttps : requestHttp)(optionsOf(destination, address, post));
  line.follow(request);
  // Resets the connection: a receiver that reads nothing would otherwise keep the system busy closing it.
  const giveUp = () => {
    request.socket?.resetAndDestroy();
    request.destroy(signal.reason);
  };
  if (signal.aborted) giveUp();
  signal.addEventListener("abort", giveUp, { once: true });
  request.on("close", () => {
    signal.removeEventListener("abort", giveUp);
    // Changes nothing if an answer came.
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
  request.on("response", (response) => {
    // The connection may be another request's from here on.
    response.once("end", () => signal.removeEventListener("abort", giveUp));
    resolve(response);
  });
  request.on("upgrade", (_answer, socket) => {
    socket.destroy();
    reject(new EgressError("unreachable", "switches to another protocol"));
  });
  // Also handles errors after the answer began, which nobody awaits.
  request.on("error", reject);
  request.end(body);
  return promise;
}

function optionsOf(
  { url, host, isLiteral }: Destination,
  address: string,
  { headers, body, ca, line = OWN }: Post,
): RequestOptions {
  const isSecure = url.protocol === "https:";
  return {
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
    agent: line.agent,
    ...(isSecure
      ? {
          rejectUnauthorized: true,
          ...(isLiteral ? {} : { servername: host.replace(/\.$/, "") }),
          ...(ca === undefined ? {} : { ca }),
        }
      : {}),
  };
}
