import { connect } from "node:net";

/** A connection that holds on: it sends when told to, and reads unless told not to. */
export interface Holding {
  /** All that came back so far. */
  received(): string;
  /** Resolves with all that came back, once that matches. @throws Error when the connection is closed before */
  says(pattern: RegExp): Promise<string>;
  /** Resolves with all that came back when the server closes the connection. */
  readonly closed: Promise<string>;
  send(text: string | Uint8Array): void;
  /** Sends a text again and again, four times a second, until the connection is closed. */
  drip(text: string): void;
  leave(): void;
}

const DRIP_EVERY_MS = 250;

/** Opens a connection and sends the lines of a head. @param options.isReading whether it takes what comes back */
export function hold(port: number, head: string, options: { readonly isReading?: boolean } = {}): Holding {
  const closed = Promise.withResolvers<string>();
  const waiting = new Set<() => void>();
  let received = "";
  let timer: ReturnType<typeof setInterval> | undefined;
  const socket = connect({ host: "127.0.0.1", port });
  if (options.isReading === false) socket.pause();
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("latin1");
    for (const look of waiting) look();
  });
  // What a reset connection had to say has come before.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    clearInterval(timer);
    closed.resolve(received);
  });
  socket.write(`${head}\r\n`);
  return {
    received: () => received,
    closed: closed.promise,
    async says(pattern) {
      const said = Promise.withResolvers<void>();
      const look = () => {
        if (pattern.test(received)) said.resolve();
      };
      waiting.add(look);
      look();
      const isSaid = await Promise.race([said.promise.then(() => true), closed.promise.then(() => false)]);
      waiting.delete(look);
      if (!isSaid && !pattern.test(received)) throw new Error(`The server closed after: ${received}`);
      return received;
    },
    send: (text) => void socket.write(text),
    drip(text) {
      timer = setInterval(() => socket.write(text), DRIP_EVERY_MS);
    },
    leave: () => void socket.destroy(),
  };
}
