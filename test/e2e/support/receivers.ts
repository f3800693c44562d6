import type { Socket } from "bun";

/** A receiver that waits for whatever happens to it. */
interface Watched {
  /** Resolves once `holds` is true; looked at whenever something happens. */
  until(holds: () => boolean): Promise<void>;
}

export interface Posted {
  /** `Date.now()` of its arrival. */
  readonly at: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Receiver extends Watched {
  readonly url: string;
  readonly posts: readonly Posted[];
  /** Resolves once so many have come. */
  received(count: number): Promise<void>;
  /** Answers those that were held back, and all later ones at once. */
  release(): void;
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  /** Answers to the first POSTs, in turn; 204 to all others. */
  readonly answers?: readonly Response[];
  /** Keeps whoever posts waiting for an answer until `release`. */
  readonly isHeld?: boolean;
  readonly hostname?: string;
}

/** Where callbacks arrive. */
export function openReceiver(options: ReceiverOptions = {}): Receiver {
  const answers = [...(options.answers ?? [])];
  const posts: Posted[] = [];
  const { until, tell } = createWatch();
  const released = Promise.withResolvers<void>();
  if (options.isHeld !== true) released.resolve();
  const server = Bun.serve({
    hostname: options.hostname ?? "127.0.0.1",
    port: 0,
    async fetch(request) {
      const at = Date.now();
      // What a callback says is looked at field by field.
      const body = (await request.json()) as Posted["body"];
      posts.push({ at, headers: request.headers, body });
      tell();
      await released.promise;
      return answers.shift() ?? new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://${server.hostname}:${server.port}/hook?token=7`,
    posts,
    until,
    received: (count) => until(() => posts.length >= count),
    release: released.resolve,
    stop: () => server.stop(true),
  };
}

/** A host that takes connections and never answers. */
export interface HangingHost extends Watched {
  readonly url: string;
  /** Connections open now, and the most there were at once. */
  open(): number;
  most(): number;
  /** Connections that have ended, on whichever side. */
  ended(): number;
  /** Breaks the connections that have been open longest. */
  drop(count: number): void;
  stop(): void;
}

export function openHangingHost(): HangingHost {
  const sockets = new Set<Socket<undefined>>();
  const { until, tell } = createWatch();
  let most = 0;
  let ended = 0;
  const listener = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        sockets.add(socket);
        most = Math.max(most, sockets.size);
        tell();
      },
      data() {
        // Whatever is asked stays unanswered.
      },
      close(socket) {
        sockets.delete(socket);
        ended += 1;
        tell();
      },
      error() {
        // The other side broke it.
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}/hang`,
    open: () => sockets.size,
    most: () => most,
    ended: () => ended,
    until,
    drop(count) {
      for (const socket of [...sockets].slice(0, count)) socket.terminate();
    },
    stop: () => listener.stop(true),
  };
}

function createWatch() {
  const waiting = new Set<() => void>();
  return {
    tell() {
      for (const look of [...waiting]) look();
    },
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
