import { connect } from "node:net";

/**
 * The message that asks a server whether it supports TLS (https://www.postgresql.org/docs/15/protocol-message-formats.html,
 * checked 2026-11-27).
 */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const PATIENCE_MS = 5_000;

/** Whether a server supports TLS; `false` if it cannot be reached, which the connection itself will report. */
export function offersTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (offers: boolean) => {
      socket.destroy();
      resolve(offers);
    };
    socket.setTimeout(PATIENCE_MS, () => end(false));
    socket.on("connect", () => socket.write(SSL_REQUEST));
    socket.once("data", (answer) => end(answer[0] === 0x53));
    socket.on("error", () => end(false));
    socket.on("close", () => end(false));
  });
}
