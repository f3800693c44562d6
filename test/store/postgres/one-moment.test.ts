import { afterAll, describe, expect, test } from "bun:test";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import { openConnection, readOneMoment } from "../../../src/store/postgres/connection.ts";
import { LOCKS, takeLock, takeLockToClaim } from "../../../src/store/postgres/locks.ts";
import type { Session } from "../../../src/store/postgres/session.ts";
import { askPostgres, CAN_TEST_POSTGRES, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";

const lost = () => new StorageError("away", "The database server is away.");

test("reads of one moment whose connection is lost fail alone: nothing is left that nobody hears of", async () => {
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  process.on("unhandledRejection", hear);
  try {
    const driver = {
      begin: async () => ({
        ask: () => Promise.reject(lost()),
        prove: () => Promise.reject(lost()),
        commit: () => Promise.reject(lost()),
        rollback: () => Promise.reject(lost()),
      }),
    };
    const own = new Error("its own");
    const reading = readOneMoment(driver, () => Promise.reject(own));
    expect(await reading.catch((error: unknown) => error)).toBe(own);
    // Rejections that nobody hears of are told once a turn has ended.
    await new Promise((resolve) => void setImmediate(resolve));
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

describe.skipIf(!CAN_TEST_POSTGRES)("transactions of a process that is gone or stands still", () => {
  afterAll(stopPostgres);

  const pidOf = async (session: Session) =>
    Number((await session.ask("select pg_backend_pid() as pid", [])).rows[0]?.pid);
  const limitOf = async (session: Session) =>
    (await session.ask("select current_setting('idle_in_transaction_session_timeout') as set", [])).rows[0]
      ?.set;

  test("reads of one moment whose connection is ended are told that the database is away, and can be repeated", async () => {
    const connection = openConnection({ url: await emptyPostgres(), connections: 1 });
    try {
      const cut = connection.readAtOnce(async (session) => {
        await askPostgres(`select pg_terminate_backend(${await pidOf(session)}) as ended`);
        return pidOf(session);
      });
      expect(await cut.catch((error: unknown) => error)).toMatchObject({ kind: "away" });
      expect(await connection.readAtOnce(pidOf)).toBeGreaterThan(0);
    } finally {
      await connection.stop();
    }
  });

  test("the lock of a claim is taken from a process that leaves it alone, and given to the next", async () => {
    const url = await emptyPostgres();
    const [frozen, other] = [openConnection({ url }), openConnection({ url })];
    try {
      const left = await frozen.driver.begin();
      await takeLockToClaim(left, "claimTasks");
      // It does no more, as a process does that was stopped. The server undoes it.
      const next = await other.driver.begin();
      await takeLock(next, "claimTasks");
      const held = await askPostgres(
        `select count(*)::int as count from pg_locks where locktype = 'advisory' and granted and objid = ${LOCKS.claimTasks}`,
      );
      expect(held).toEqual([{ count: 1 }]);
      await next.commit();
      expect(await left.commit().catch((error: unknown) => error)).toBeInstanceOf(Error);
    } finally {
      await frozen.stop();
      await other.stop();
    }
  });

  test("a claim is given up on sooner than other transactions, and its connection is as before after it", async () => {
    const connection = openConnection({ url: await emptyPostgres(), connections: 1 });
    try {
      const claiming = await connection.driver.begin();
      const before = await limitOf(claiming);
      await takeLockToClaim(claiming, "claimCallbacks");
      expect([before, await limitOf(claiming)]).toEqual(["5s", "1s"]);
      await claiming.commit();
      expect(await connection.read(limitOf)).toBe("5s");
    } finally {
      await connection.stop();
    }
  });
});
