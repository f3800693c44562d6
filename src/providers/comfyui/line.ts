import type { Upstream } from "../kit/http.ts";
import { openSocket, type SocketTaker, type UpstreamSocket } from "../kit/socket.ts";

/** A connection that stays open while it is wanted. */
export interface Line {
  /** Opens it, unless it is open or about to be opened. It closes a while after it was last wanted. */
  want(): void;
  stop(): void;
}

const SHORTEST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Tasks are polled more often than this. */
const IDLE_MS = 60_000;

interface LineDeps {
  readonly upstream: Upstream;
  readonly maxBytes: number;
  /** The address, of http or https. */
  readonly url: () => string;
  /** Sent first. */
  readonly greeting: string;
  /** Whether it is opened again after it was lost. */
  readonly isWanted: () => boolean;
}

export function createLine(deps: LineDeps, to: Omit<SocketTaker, "opened">): Line {
  const { upstream, maxBytes } = deps;
  const { clock } = upstream;
  let socket: UpstreamSocket | undefined;
  let failures = 0;
  let isStopped = false;
  let cancelRetry: (() => void) | undefined;
  let cancelIdle = () => {};

  function connect(): void {
    cancelRetry = undefined;
    if (isStopped || socket !== undefined) return;
    socket = openSocket(
      upstream,
      { url: deps.url(), maxBytes },
      {
        ...to,
        opened() {
          failures = 0;
          socket?.send(deps.greeting);
        },
        closed() {
          socket = undefined;
          const delayMs = Math.min(LONGEST_RETRY_MS, SHORTEST_RETRY_MS * 2 ** Math.min(failures, 10));
          failures += 1;
          to.closed();
          if (!isStopped && deps.isWanted()) cancelRetry = clock.after(delayMs, connect);
        },
      },
    );
  }

  function close(): void {
    cancelIdle();
    cancelRetry?.();
    cancelRetry = undefined;
    socket?.close();
    socket = undefined;
  }

  return {
    want() {
      cancelIdle();
      if (isStopped) return;
      cancelIdle = clock.after(IDLE_MS, close);
      if (cancelRetry === undefined) connect();
    },
    stop() {
      isStopped = true;
      close();
    },
  };
}
