import { afterAll, describe, expect, test } from "bun:test";
import { BEAT_MS, GONE_AFTER_MS } from "../../../src/domain/ports/node-store.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { createNodeStore } from "../../../src/store/postgres/node-store.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { openSwallowingProxy, type SwallowingProxy } from "./swallowing-proxy.ts";

const DEADLINE_MS = 1_000;
const OF = "acc_1" as Parameters<Connection["writeFor"]>[0];

describe.skipIf(!CAN_TEST_POSTGRES)("a server whose packets get lost for ever", () => {
  afterAll(stopPostgres);

  /** Runs `body` with a table, and a connection through a proxy that can swallow. */
  async function through(
    client: string,
    body: (connection: Connection, proxy: SwallowingProxy) => Promise<void>,
    deadlineMs = DEADLINE_MS,
  ) {
    const url = new URL(await emptyPostgres());
    const proxy = await openSwallowingProxy(Number(url.port));
    await askPostgres("drop table if exists silence");
    await askPostgres("create table silence (n bigint)");
    [url.port, url.search] = [String(proxy.port), `client=${client}`];
    const connection = openConnection({
      url: url.href,
      connections: 2,
      deadlineMs,
      patienceMs: 60_000,
    });
    try {
      await connection.read((session) => session.ask("select n from silence", []));
      await body(connection, proxy);
    } finally {
      await connection.stop();
      proxy.close();
      await askPostgres("drop table silence");
    }
  }

  const stored = async () => (await askPostgres("select n from silence")).map(({ n }) => Number(n));

  for (const client of ["bun", "pg"]) {
    test(`${client}: a read fails as one of a server that is away, and the next one is answered`, () =>
      through(client, async (connection, proxy) => {
        proxy.swallow();
        const ask = () => connection.read((session) => session.ask("select count(*) as n from silence", []));
        await expect(ask()).rejects.toMatchObject({ kind: "away" });
        expect((await ask()).rows).toEqual([{ n: 0 }]);
        expect((await connection.driver.aside.ask("select 1 as n", [])).rows).toEqual([{ n: 1 }]);
      }));

    test(`${client}: a write whose statements got lost is written again, once`, () =>
      through(client, async (connection, proxy) => {
        let runs = 0;
        await connection.writeFor(OF, async (session) => {
          if (++runs === 1) proxy.swallow();
          await session.ask("insert into silence values (1)", []);
        });
        expect(runs).toBe(2);
        expect(await stored()).toEqual([1]);
      }));

    test(`${client}: a commit whose answer got lost is asked about, and not written again`, () =>
      through(client, async (connection, proxy) => {
        let runs = 0;
        await connection.writeFor(OF, async (session) => {
          runs++;
          await session.ask("insert into silence values (1) returning n", []);
          proxy.swallow({ questions: false });
        });
        expect(runs).toBe(1);
        expect(await stored()).toEqual([1]);
      }));

    test(`${client}: a node reports again before others take it for gone, and goes on with what it wrote`, () =>
      through(
        client,
        async (connection, proxy) => {
          const { beat } = createNodeStore(connection);
          const report = () =>
            beat({ id: "node", name: "node", role: "all", version: "1", isDraining: false });
          await report();
          proxy.swallow();
          const began = performance.now();
          const written = connection.write((session) => session.ask("insert into silence values (1)", []));
          while (
            !(await report().then(
              () => true,
              () => false,
            ))
          )
            await Bun.sleep(BEAT_MS);
          await written;
          expect(performance.now() - began).toBeLessThan(GONE_AFTER_MS);
          expect(await stored()).toEqual([1]);
        },
        30_000,
      ));

    test(`${client}: what takes long by right is waited for`, () =>
      through(client, async (connection) => {
        const { rows } = await connection.readAtOnce((session) =>
          session.ask(`select 1 as n from pg_sleep(${(2.5 * DEADLINE_MS) / 1000})`, []),
        );
        expect(rows).toEqual([{ n: 1 }]);
      }));

    test(`${client}: who waits for a lock is told that the database is busy, by the server itself`, () =>
      through(client, async (connection) => {
        const holder = await connection.driver.begin({ isLong: true });
        await holder.ask("lock table silence in access exclusive mode", []);
        const hints: unknown[] = [];
        const written = connection.write(async (session) => {
          const asked = session.ask("insert into silence values (1) returning n", []);
          await asked.catch((error: unknown) => {
            hints.push(error);
            void holder.rollback();
            throw error;
          });
        });
        await written;
        expect(hints).toHaveLength(1);
        expect(String(hints[0])).toContain("lock timeout");
        expect(await stored()).toEqual([1]);
      }));
  }
});
