import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../../helpers/free-port.ts";

/** Passes bytes between clients and a server until told to cut what is open. */
export interface CuttingProxy {
  readonly url: string;
  /** Breaks every open connection, on both sides at once. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * @param target port of the server on this machine
 * @param maxBytes after which each connection's answers break off
 */
export async function openCuttingProxy(
  target: number,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const port = freePort();
  const server = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port: target });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A side that was cut says so; the other one ends with it.
      socket.on("error", () => {});
      socket.on("close", () => void sockets.delete(socket));
    }
    client.pipe(upstream);
    let passed = 0;
    upstream.on("data", (bytes: Buffer) => {
      const rest = bytes.subarray(0, maxBytes - passed);
      passed += rest.length;
      if (passed >= maxBytes) client.end(rest, () => client.destroy());
      else if (!client.write(rest)) {
        upstream.pause();
        client.once("drain", () => upstream.resume());
      }
    });
    upstream.on("end", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
