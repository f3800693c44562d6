import type { Server } from "bun";

export interface Servers {
  readonly url: string;
  readonly port: number;
  readonly longUrl?: string | undefined;
  readonly longPort?: number | undefined;
  /** Lifts the idle limit for one request that waits on purpose. */
  keepOpen(request: Request): void;
  /** Takes no new connections, answers the requests under way for up to five seconds, and closes. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The second address, for requests that take long; absent: none. */
  readonly longPort?: number | undefined;
  readonly handle: (request: Request) => Response | Promise<Response>;
}

/**
 * How long a connection may be silent, in seconds. Bun counts a slow upload as silence, and its own default of 10 would cut
 * bodies that are still on their way.
 */
const IDLE_TIMEOUT_SEC = 120;

/** How long requests under way may take to be answered once the service stops; then their connections are cut. */
const CLOSE_LIMIT_MS = 5_000;

/** Above every limit of our own, so that the answer to a body too large is ours. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Listens on one or two addresses with the same routes. @throws when an address cannot be had */
export function createServers(options: ServerOptions): Servers {
  const listen = (port: number) =>
    Bun.serve({
      hostname: options.host,
      port,
      idleTimeout: IDLE_TIMEOUT_SEC,
      maxRequestBodySize: MAX_BODY_BYTES,
      development: false,
      // Without development, Bun would share the port with another process, and each get some of the requests.
      reusePort: false,
      fetch: options.handle,
    });
  const main = listen(options.port);
  let long: Server<undefined> | undefined;
  try {
    long = options.longPort === undefined ? undefined : listen(options.longPort);
  } catch (error) {
    main.stop(true);
    throw error;
  }
  const urlOf = (server: Server<undefined>) => `http://${displayHost(options.host)}:${server.port}`;
  return {
    url: urlOf(main),
    // Set for every server that listens on TCP, which these do.
    port: main.port as number,
    longUrl: long && urlOf(long),
    longPort: long?.port,
    keepOpen(request) {
      // A request belongs to one of the two; the other ignores it.
      main.timeout(request, 0);
      long?.timeout(request, 0);
    },
    async stop() {
      const ended = Promise.all([main.stop(), long?.stop()]);
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, CLOSE_LIMIT_MS);
      await Promise.race([ended, limit.promise]);
      clearTimeout(timer);
      // A client that says nothing more would otherwise keep the process for as long as it likes.
      await Promise.all([main.stop(true), long?.stop(true)]);
    },
  };
}

/** Where a person on this machine finds a server bound to `host`. */
function displayHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
