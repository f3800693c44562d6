import { expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { ACCOUNT, addAccount, admit, newTask, taskId, temporaryDatabase } from "../../helpers/store.ts";

/* 0032 notes the tasks that groups begin with. */

test("groups that were made before are found", async () => {
  const file = temporaryDatabase();
  try {
    const before = openStore({ path: file.path });
    await addAccount(before, { id: ACCOUNT });
    const group = { policy: "all", tasks: [taskId(1), taskId(2)] } as const;
    const request = { ...newTask().request, group };
    await admit(before, { number: 1, request });
    await admit(before, { number: 2, request });
    await admit(before, { number: 3 });
    await before.stop();
    const db = openDatabase(file.path);
    db.run("drop table audit_seal");
    db.run("drop index task_group");
    db.run("alter table task drop column begins_group");
    db.run("delete from schema_migration where number >= 32");
    db.stop();
    const after = openStore({ path: file.path });
    const found = await after.tasks.groups(ACCOUNT, { limit: 9 });
    expect(found.map(({ id }) => id)).toEqual([taskId(1)]);
    await after.stop();
  } finally {
    file.remove();
  }
});
