import { connect } from "node:tls";
import { readBounded } from "../toolkit/bounded-body.ts";
import { reasonOf } from "../toolkit/system-error.ts";

/** What a request to an address that the operator named shows. */
export type Looked =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly text: string;
      /** Where a redirect leads. */
      readonly location: string | undefined;
      /** By the clock there, in epoch milliseconds. */
      readonly dateMs: number | undefined;
    }
  | { readonly kind: "unreachable"; readonly reason: string };

const BOUNDS = { maxBytes: 65_536, tooLarge: () => new Error("its answer is longer than that of svc") };

/** Asks an address once. Follows no redirect. */
export async function lookAt(url: string, timeoutMs: number): Promise<Looked> {
  try {
    const response = await fetch(url, {
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
      keepalive: false,
    });
    const date = Date.parse(response.headers.get("date") ?? "");
    return {
      kind: "answered",
      status: response.status,
      text: Buffer.concat(await Array.fromAsync(readBounded(response, BOUNDS))).toString(),
      location: response.headers.get("location") ?? undefined,
      dateMs: Number.isNaN(date) ? undefined : date,
    };
  } catch (error) {
    return { kind: "unreachable", reason: reasonOf(error) };
  }
}

/** Until when the certificate at an address is valid, in epoch milliseconds; undefined where there is none to be seen. */
export function certificateEnd(url: string, timeoutMs: number): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  // What is wrong with it, `lookAt` says.
  const socket = connect({ host, servername: host, port: Number(port || 443), rejectUnauthorized: false });
  socket.setTimeout(timeoutMs, () => resolve(undefined));
  socket.on("error", () => resolve(undefined));
  socket.on("secureConnect", () => {
    const end = Date.parse(socket.getPeerCertificate().valid_to ?? "");
    resolve(Number.isNaN(end) ? undefined : end);
  });
  return promise.finally(() => socket.destroy());
}
