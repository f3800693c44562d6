import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { applyMigrations } from "../../../src/store/postgres/migrate.ts";
import { type DatabasePair, startPair } from "../../moving/database-pair.ts";
import { HAS_POSTGRES, onceOn } from "../../moving/database-servers.ts";

describe.skipIf(!HAS_POSTGRES)("an address that leads to a standby for a while", () => {
  let folder: string;
  let pair: DatabasePair;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-misled-");
    pair = await startPair(folder);
    const connection = openConnection({ url: pair.url });
    await applyMigrations(connection.driver);
    await connection.stop();
    await onceOn(pair.url, "create table misled (n bigint)");
  }, 120_000);
  afterAll(async () => {
    await pair.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  test.each(["bun", "pg"])(
    "is followed to the primary once it leads there again, though the standby still answers (%s)",
    async (client) => {
      const address = await openAddress(Number(new URL(pair.url).port));
      const url = new URL(pair.url);
      [url.port, url.search] = [String(address.port), `client=${client}`];
      const connection = openConnection({ url: url.href, connections: 2, patienceMs: 60_000 });
      const write = () =>
        connection.write((session) => session.ask("insert into misled values (1)", []), { isOwed: true });
      try {
        await write();
        address.lead(Number(new URL(pair.standbyUrl()).port));
        const written = write();
        while (connection.trouble()?.kind !== "read_only") await Bun.sleep(10);
        address.lead(Number(new URL(pair.url).port), { cuts: false });
        await written;
        expect(
          (await connection.driver.aside.ask("select pg_is_in_recovery() as is_standby", [])).rows,
        ).toEqual([{ is_standby: false }]);
      } finally {
        await connection.stop();
        address.stop();
      }
    },
    30_000,
  );
});

/** Hands connections on to whatever is the target when they are made. */
async function openAddress(first: number) {
  const open = new Set<Socket>();
  let target = first;
  const server = createServer((socket) => {
    const other = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("The address has no port.");
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: at.port,
    lead(to: number, { cuts = true } = {}) {
      target = to;
      if (cuts) cut();
    },
    stop() {
      cut();
      server.close();
    },
  };
}
