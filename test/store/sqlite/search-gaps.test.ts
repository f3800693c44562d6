import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, countingTokens, endOne, NOW, taskId } from "../../helpers/store.ts";

/** Far enough from the first task that one page does not look that far, unless it passes over what is not there. */
const [NEWEST, MIDDLE] = [5_000_000, 2_999_999];

test("a search passes over numbers that are missing, as those of removed tasks are", async () => {
  const { path, remove } = migratedFile();
  const made = openStore({ path, ids: countingTokens() });
  await addAccount(made, { id: ACCOUNT });
  await admit(made, { number: 1 });
  await endOne(made, "completed", { at: NOW });
  await made.search.index(100);
  await made.stop();
  const db = new Database(path, { strict: true });
  db.run("create temp table copied as select * from task");
  for (const number of [NEWEST, MIDDLE]) {
    db.run("update copied set number = ?1, id = ?2, change = ?1", [number, taskId(number)]);
    db.run("insert into task select * from copied");
  }
  db.close();
  const store = openStore({ path, ids: countingTokens() });
  const { tasks, next } = await store.tasks.managedTasks({ limit: 10, text: "lighthouse" });
  expect([tasks.map(({ id }) => id), next]).toEqual([[taskId(1)], undefined]);
  await store.stop();
  remove();
});
