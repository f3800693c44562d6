import { expect, test } from "bun:test";
import { openAudit } from "../../../src/store/audit.ts";
import { openStore } from "../../../src/store/open.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, endOne, taskId } from "../../helpers/store.ts";
import { seedFinishedTasks } from "./seed.ts";

test("the books of a seeded database add up", async () => {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  await addAccount(store, { id: ACCOUNT });
  for (const number of [1, 2]) await admit(store, { number });
  await endOne(store, "completed");
  await endOne(store, "failed");
  await store.stop();
  const taken = seedFinishedTasks(file.path, { template: taskId(1), count: 60, sample: 6 });
  expect(taken).toHaveLength(6);
  const audit = openAudit({ path: file.path });
  expect(await audit.run()).toMatchObject({ rows: { tasks: 62 }, differences: [] });
  audit.stop();
  file.remove();
});
