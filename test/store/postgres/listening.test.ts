import { afterAll, describe, expect, test } from "bun:test";
import { openDriver } from "../../../src/store/postgres/driver.ts";
import { emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { openSwallowingProxy } from "./swallowing-proxy.ts";

const CLIENTS = ["bun", "pg"] as const;

describe.skipIf(!CAN_TEST_POSTGRES)("who listens on a PostgreSQL server", () => {
  afterAll(stopPostgres);

  for (const client of CLIENTS)
    test(`${client}: hears what is told, also after its connection was lost, or swallows everything`, async () => {
      const url = new URL(await emptyPostgres());
      const proxy = await openSwallowingProxy(Number(url.port));
      url.port = String(proxy.port);
      url.searchParams.set("client", client);
      const driver = openDriver({ url: url.href, most: 2 });
      const heard: string[] = [];
      let times = 0;
      await driver.listen(
        "svc_test_a",
        (payload) => void heard.push(payload),
        () => void times++,
      );
      const tell = (payload: string) =>
        driver.ask("select pg_notify('svc_test_a', $1) is null as told", [payload]);
      await tell("first");
      while (heard.length === 0) await Bun.sleep(5);
      const before = times;
      await driver.ask(
        "select pg_terminate_backend(pid) as ended from pg_stat_activity where query ilike 'listen %' and datname = current_database() and pid <> pg_backend_pid()",
        [],
      );
      while (times === before) await Bun.sleep(5);
      await tell("second");
      while (heard.length === 1) await Bun.sleep(5);
      proxy.swallow();
      const teller = openDriver({ url: url.href, most: 1 });
      const last = times;
      await driver.listenAnew();
      while (times === last) await Bun.sleep(5);
      await teller.ask("select pg_notify('svc_test_a', 'third') is null as told", []);
      while (heard.length === 2) await Bun.sleep(5);
      expect(heard).toEqual(["first", "second", "third"]);
      await Promise.all([driver.close(), teller.close()]);
      proxy.close();
    });
});
