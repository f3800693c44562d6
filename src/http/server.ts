import type { Server } from "bun";
import type { Connection } from "./exchange.ts";

export interface Servers {
  /** Of the default address, or of the only one. */
  readonly url: string;
  readonly port?: number | undefined;
  /** Of the second address, beside the default one. */
  readonly longUrl?: string | undefined;
  readonly longPort?: number | undefined;
  /** Lifts the idle limit for one request, until it is answered. */
  keepOpen(request: Request): void;
  /** Takes no new connections, answers the requests under way for up to five seconds, and closes. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** Of the default address. 0: any free port; absent: none. */
  readonly port?: number | undefined;
  /** The second address, for requests that take long; absent: none. */
  readonly longPort?: number | undefined;
  readonly handle: (request: Request, connection: Connection) => Response | Promise<Response>;
}

/**
 * How long a connection may be silent, in seconds. Bun counts a slow upload as silence, below some 20 KB a second, and its own
 * default of 10 would cut bodies that are still on their way. 255 is the most it takes.
 */
const IDLE_TIMEOUT_SEC = { default: 120, long: 255 } as const;

/** How long requests under way may take to be answered once the service stops; then their connections are cut. */
const CLOSE_LIMIT_MS = 5_000;

/** Above every limit of our own, so that the answer to a body too large is ours. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Listens on one or two addresses with the same endpoints. @throws when an address cannot be had */
export function createServers(options: ServerOptions): Servers {
  const keptOpen = new Set<Request>();
  const listen = (port: number, isLong: boolean) => {
    const idleTimeout = isLong ? IDLE_TIMEOUT_SEC.long : IDLE_TIMEOUT_SEC.default;
    return Bun.serve({
      hostname: options.host,
      port,
      idleTimeout,
      maxRequestBodySize: MAX_BODY_BYTES,
      development: false,
      // Without development, Bun would share the port with another process, and each get some of the requests.
      reusePort: false,
      async fetch(request, server) {
        try {
          return await options.handle(request, { isLong, address: () => server.requestIP(request)?.address });
        } finally {
          // Or the connection would be without a limit from here on, whatever becomes of it.
          if (keptOpen.delete(request)) server.timeout(request, idleTimeout);
        }
      },
    });
  };
  const main = options.port === undefined ? undefined : listen(options.port, false);
  let long: Server<undefined> | undefined;
  try {
    long = options.longPort === undefined ? undefined : listen(options.longPort, true);
  } catch (error) {
    main?.stop(true);
    throw error;
  }
  const only = main ?? long;
  if (only === undefined) throw new Error("There is no address to listen on.");
  const urlOf = (server: Server<undefined>) => `http://${displayHost(options.host)}:${server.port}`;
  return {
    url: urlOf(only),
    port: main?.port,
    longUrl: main && long && urlOf(long),
    longPort: long?.port,
    keepOpen(request) {
      keptOpen.add(request);
      // A request belongs to one of the two; the other ignores it.
      main?.timeout(request, 0);
      long?.timeout(request, 0);
    },
    async stop() {
      const ended = Promise.all([main?.stop(), long?.stop()]);
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, CLOSE_LIMIT_MS);
      await Promise.race([ended, limit.promise]);
      clearTimeout(timer);
      // A client that says nothing more would otherwise keep the process for as long as it likes.
      await Promise.all([main?.stop(true), long?.stop(true)]);
    },
  };
}

/** Where a person on this machine finds a server bound to `host`. */
function displayHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
