import { expect, test } from "bun:test";
import { type PurgeDeps, purgeAccount } from "../../src/service/purge-account.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, NOW } from "../helpers/store.ts";

/** More than are cancelled, and removed, between two looks at the time. */
const TASKS = 150;

test("a purge whose time is over stops after a slice, of tasks that wait as of others, and goes on when it is called again", async () => {
  const store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  for (let number = 1; number <= TASKS; number++) await admit(store, { number });
  const deps: PurgeDeps = {
    ...{ tasks: store.tasks, retention: store.retention, uploads: store.uploads },
    ...{ removeContents: async () => 0, now: () => NOW, actor: { kind: "system" }, isOver: () => true },
  };
  const purged = () => purgeAccount(deps, ACCOUNT);
  const waiting = async () => (await store.tasks.counts()).queued;

  expect(await purged()).toEqual({ kind: "more", tasks: 0, files: 0 });
  expect(await waiting()).toBe(50);
  expect(await purged()).toEqual({ kind: "more", tasks: 0, files: 0 });
  expect(await waiting()).toBe(0);
  for (const tasks of [100, 50]) expect(await purged()).toEqual({ kind: "more", tasks, files: 0 });
  await store.stop();
});
