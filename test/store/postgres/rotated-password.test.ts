import { afterAll, describe, expect, test } from "bun:test";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const ROLE = `svc_rotated_${process.pid}`;

describe.skipIf(!CAN_TEST_POSTGRES)("a server that refuses new connections", () => {
  afterAll(stopPostgres);

  test.each(["bun", "pg"])(
    "is waited for by what is owed, until it takes the password again (%s)",
    async (client) => {
      const url = new URL(await emptyPostgres());
      await askPostgres("create table rotated (n bigint)");
      await askPostgres(`create role ${ROLE} login password 'before'`);
      await askPostgres(`grant all on rotated, task_change_number to ${ROLE}`);
      [url.username, url.password, url.search] = [ROLE, "before", `client=${client}`];
      const connection = openConnection({ url: url.href, connections: 1 });
      const write = () =>
        connection.write((session) => session.ask("insert into rotated values (1)", []), { isOwed: true });
      try {
        await write();
        await askPostgres(`alter role ${ROLE} password 'after'`);
        await askPostgres(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${ROLE}'`);
        const written = write();
        written.catch(() => {});
        while (connection.trouble() === undefined && !isEnded(written)) await Bun.sleep(10);
        expect(connection.trouble()).toMatchObject({ kind: "away" });
        await askPostgres(`alter role ${ROLE} password 'before'`);
        await written;
      } finally {
        await connection.stop();
        await askPostgres("drop table rotated");
        await askPostgres(`drop owned by ${ROLE}`);
        await askPostgres(`drop role ${ROLE}`);
      }
    },
    20_000,
  );
});

const isEnded = (promise: Promise<unknown>) => Bun.peek.status(promise) !== "pending";
