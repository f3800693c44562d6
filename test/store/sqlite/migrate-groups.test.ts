import { expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { ACCOUNT, addAccount, admit, newTask, taskId, temporaryDatabase } from "../../helpers/store.ts";

/* 0032 notes the tasks that groups begin with, and 0038 those that something cancels later. */

test("groups and cancels that were asked for before are found", async () => {
  const file = temporaryDatabase();
  try {
    const before = openStore({ path: file.path });
    await addAccount(before, { id: ACCOUNT });
    const group = { policy: "all", tasks: [taskId(1), taskId(2)] } as const;
    const request = { ...newTask().request, group };
    await admit(before, { number: 1, request });
    await admit(before, { number: 2, request });
    await admit(before, { number: 3 });
    await admit(before, { number: 4, request: { ...newTask().request, cancelAt: 5 } });
    const race = { policy: "first", tasks: [taskId(5), taskId(6)] } as const;
    await admit(before, { number: 5, request: { ...newTask().request, group: race } });
    await before.stop();
    const db = openDatabase(file.path);
    db.run("drop table audit_seal");
    db.run("drop index task_awaits_results");
    db.run("drop index task_cancels_later");
    db.run("alter table task drop column cancels_later");
    db.run("drop index task_group");
    db.run("alter table task drop column begins_group");
    db.run("delete from schema_migration where number between 32 and 38");
    db.stop();
    const after = openStore({ path: file.path });
    const found = await after.tasks.groups(ACCOUNT, { limit: 9 });
    expect(found.map(({ id }) => id)).toEqual([taskId(5), taskId(1)]);
    expect(await after.tasks.timed()).toEqual([{ id: taskId(4), accountId: ACCOUNT, cancelAt: 5 }]);
    expect(await after.tasks.races()).toEqual([{ accountId: ACCOUNT, tasks: race.tasks }]);
    await after.stop();
  } finally {
    file.remove();
  }
});
