import { afterAll, describe, expect, test } from "bun:test";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import { openConnection, readOneMoment } from "../../../src/store/postgres/connection.ts";
import { takeLock } from "../../../src/store/postgres/locks.ts";
import type { Session } from "../../../src/store/postgres/session.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT } from "../../helpers/store.ts";

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

  test("what a write holds is taken from a process that stands still, and the write is done again once it goes on", async () => {
    const url = await emptyPostgres();
    const [frozen, other] = [openConnection({ url }), openConnection({ url })];
    await askPostgres(
      `insert into account (number, id, name, mode, status, balance_micros, held_micros, created_at)
       values (1, '${ACCOUNT}', 'made', 'unlimited', 'active', 0, 0, 0)`,
    );
    const add = (session: Session, letter: string) =>
      session.ask("update account set name = name || $1 where id = $2", [letter, ACCOUNT]);
    const [holds, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let tries = 0;
    try {
      const left = frozen.writeFor(ACCOUNT, async (session) => {
        await takeLock(session, "claimTasks");
        holds.resolve();
        if (++tries === 1) await goesOn.promise;
        await add(session, " late");
      });
      await holds.promise;
      await other.write((session) => takeLock(session, "claimTasks"));
      await other.writeFor(ACCOUNT, (session) => add(session, " soon"));
      goesOn.resolve();
      await left;
      expect(await askPostgres("select name from account")).toEqual([{ name: "made soon late" }]);
      expect(tries).toBe(2);
    } finally {
      await Promise.all([frozen.stop(), other.stop()]);
    }
  });

  test("a write is given up on sooner than other transactions, and its connection is as before after it", async () => {
    const connection = openConnection({ url: await emptyPostgres(), connections: 1 });
    try {
      const limits = [await connection.read(limitOf), await connection.write(limitOf)];
      expect([...limits, await connection.read(limitOf)]).toEqual(["5s", "1s", "5s"]);
    } finally {
      await connection.stop();
    }
  });
});
