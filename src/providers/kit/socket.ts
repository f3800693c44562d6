import type { Upstream } from "./http.ts";

/** What a websocket tells. None of it is said after `close` was called. */
export interface SocketTaker {
  opened(): void;
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  /** The connection is gone, or never was. */
  closed(): void;
}

export interface UpstreamSocket {
  send(text: string): void;
  close(): void;
}

/**
 * Opens a websocket to one of an upstream's origins, with its key and through its proxy. Messages over the limit are dropped.
 *
 * @param url of http or https
 */
export function openSocket(
  upstream: Upstream,
  { url, maxBytes }: { readonly url: string; readonly maxBytes: number },
  to: SocketTaker,
): UpstreamSocket {
  const ending = new AbortController();
  let socket: WebSocket | undefined;
  const isOver = () => ending.signal.aborted;
  const end = () => {
    if (isOver()) return;
    ending.abort();
    to.closed();
  };
  const open = async () => {
    const unsigned = { method: "GET", url: new URL(url), headers: {} };
    const signed = await upstream.sign(unsigned, ending.signal);
    if (isOver()) return;
    const address = new URL(signed.url);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const { proxy } = upstream;
    socket = new WebSocket(address, {
      headers: signed.headers,
      perMessageDeflate: false,
      ...(proxy && { proxy }),
    });
    socket.binaryType = "arraybuffer";
    socket.onopen = () => isOver() || to.opened();
    socket.onclose = end;
    socket.onerror = end;
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isOver()) return;
      if (typeof data === "string") {
        if (data.length <= maxBytes) to.text(data);
      } else if (data instanceof ArrayBuffer && data.byteLength <= maxBytes) to.bytes(new Uint8Array(data));
    };
  };
  if (upstream.network.isPlayed) queueMicrotask(end);
  else open().catch(end);
  return {
    send: (text) => socket?.send(text),
    close() {
      ending.abort();
      socket?.close();
    },
  };
}
