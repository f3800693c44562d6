import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { seedFinishedTasks } from "../../bench/run/seed.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, endOne, taskId } from "../../helpers/store.ts";

const COUNT = 2_000;

test("a finished task takes at most 1.4 KB, with its rows in all tables and indexes", async () => {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  await addAccount(store, { id: ACCOUNT });
  // The quote of the second task is stored for both.
  for (const number of [1, 2]) await admit(store, { number, callbackUrl: undefined });
  await endOne(store, "completed");
  await endOne(store, "completed");
  await store.stop();
  const pages = () => {
    using db = new Database(file.path, { readonly: true });
    return db.query<{ bytes: number }, []>("select sum(pgsize) as bytes from dbstat").get()?.bytes ?? 0;
  };
  const before = pages();
  seedFinishedTasks(file.path, { template: taskId(2), count: COUNT, sample: 1 });
  expect((pages() - before) / COUNT).toBeLessThan(1_400);
  file.remove();
});
