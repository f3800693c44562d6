import type { Server } from "bun";
import type { Connection } from "./exchange.ts";

export interface Servers {
  /** The default address, or the only address. */
  readonly url: string;
  readonly port?: number | undefined;
  /** The second address, in addition to the default one. */
  readonly longUrl?: string | undefined;
  readonly longPort?: number | undefined;
  /** Lifts the idle limit for one request, until it is answered. */
  keepOpen(request: Request): void;
  /** From now on each answer closes its connection, so that clients open new ones, possibly to another process. */
  retire(): void;
  /** Stops accepting connections, gives requests under way five seconds, and closes. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly host: string;
  /** Port of the default address. 0: any free port; absent: no default address. */
  readonly port?: number | undefined;
  /** The second address, for requests that take long; absent: none. */
  readonly longPort?: number | undefined;
  readonly handle: (request: Request, connection: Connection) => Response | Promise<Response>;
}

/**
 * How long a connection may be silent, in seconds. Bun counts uploads below about 20 KB a second as silence, so its default of 10
 * would cut them. 255 is the maximum.
 */
const IDLE_TIMEOUT_SEC = { default: 120, long: 255 } as const;

/** How long requests under way may take once the service stops; then their connections are closed. */
const CLOSE_LIMIT_MS = 5_000;

/** This is above every limit of ours, so that we ourselves answer requests whose body is too large. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Listens on one or two addresses with the same endpoints. @throws when an address is not available */
export function createServers(options: ServerOptions): Servers {
  const keptOpen = new Set<Request>();
  let isRetiring = false;
  const closing = (response: Response): Response => {
    if (isRetiring) response.headers.set("Connection", "close");
    return response;
  };
  const listen = (port: number, isLong: boolean) => {
    const idleTimeout = isLong ? IDLE_TIMEOUT_SEC.long : IDLE_TIMEOUT_SEC.default;
    return Bun.serve({
      hostname: options.host,
      port,
      idleTimeout,
      maxRequestBodySize: MAX_BODY_BYTES,
      development: false,
      // Outside development, Bun by default shares the port with other processes, and each gets some of the requests.
      reusePort: false,
      fetch(request, server) {
        const end = () => {
          // Without this the connection would have no limit from here on.
          if (keptOpen.delete(request)) server.timeout(request, idleTimeout);
        };
        const address = () => server.requestIP(request)?.address;
        const answer = options.handle(request, { isLong, address });
        if (answer instanceof Promise) return settled(answer, end, closing);
        end();
        return closing(answer);
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
  const urlOf = (server: Server<undefined>) => `${urlOfHost(options.host)}:${server.port}`;
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
    retire() {
      isRetiring = true;
    },
    stop: () => close([main, long]),
  };
}

/** In one promise: a `then` and a `finally` would make several for every request. */
function settled(answer: Promise<Response>, end: () => void, closing: (response: Response) => Response) {
  return answer.then(
    (response) => {
      end();
      return closing(response);
    },
    (error: unknown) => {
      end();
      throw error;
    },
  );
}

async function close(servers: readonly (Server<undefined> | undefined)[]): Promise<void> {
  const ended = Promise.all(servers.map((server) => server?.stop()));
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, CLOSE_LIMIT_MS);
  await Promise.race([ended, limit.promise]);
  clearTimeout(timer);
  // Otherwise a silent client could keep the process running.
  await Promise.all(servers.map((server) => server?.stop(true)));
}

/** The address, without its port, at which a person on this machine reaches a server bound to `host`. */
export function urlOfHost(host: string): string {
  if (host === "0.0.0.0") return "http://127.0.0.1";
  if (host === "::") return "http://[::1]";
  return `http://${host.includes(":") ? `[${host}]` : host}`;
}
