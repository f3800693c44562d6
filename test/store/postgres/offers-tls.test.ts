import { expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { openPgClient } from "../../../src/store/postgres/pg-client.ts";

/** Asks for TLS, or begins without it (https://www.postgresql.org/docs/15/protocol-message-formats.html). */
const SSL_REQUEST = 80877103;

/** A server that takes TLS or not, and ends each connection once it is known what it wanted: `tls`, `plain` or nothing. */
function wantingServer(offers: boolean) {
  const wanted: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      if (bytes.length === 8 && bytes.readInt32BE(4) === SSL_REQUEST) return socket.write(offers ? "S" : "N");
      wanted.push(bytes[0] === 0x16 ? "tls" : "plain");
      socket.destroy();
      return true;
    });
  });
  return { server, wanted };
}

const listening = (server: Server, port = 0) =>
  new Promise<number>((resolve) => {
    server.listen(port, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
const closed = (server: Server) => new Promise((resolve) => server.close(resolve));

test("each connection asks its server for TLS, though it was away or had none before", async () => {
  const plain = wantingServer(false);
  const port = await listening(plain.server);
  const client = openPgClient({ url: `postgres://a@127.0.0.1:${port}/a?sslmode=prefer`, most: 1 });
  const ask = () => client.main.ask("select 1", []).catch(() => {});
  await ask();
  expect(plain.wanted).toEqual(["plain"]);
  await closed(plain.server);
  await ask();
  const secure = wantingServer(true);
  await listening(secure.server, port);
  await ask();
  expect(secure.wanted).toEqual(["tls"]);
  await client.close();
  await closed(secure.server);
});
