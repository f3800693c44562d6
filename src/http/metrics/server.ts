import type { Connection } from "../exchange.ts";
import { urlOfHost } from "../server.ts";

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly handle: (request: Request, connection: Connection) => Response | Promise<Response>;
}

/**
 * Listens for scrapers. Its answers are small and quick, so it needs no limits of its own. @throws when the address is not
 * available
 */
export function createMetricsServer({ host, port, handle }: MetricsServerOptions) {
  const server = Bun.serve({
    hostname: host,
    port,
    development: false,
    reusePort: false,
    // No request needs a body.
    maxRequestBodySize: 1_024,
    fetch: (request, own) =>
      handle(request, { isLong: false, address: () => own.requestIP(request)?.address }),
  });
  return { url: `${urlOfHost(host)}:${server.port}/metrics`, stop: () => server.stop(true) };
}
