import { expect, test } from "bun:test";
import { LOOKED_AT, listGroups } from "../../src/service/list-groups.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, newTask, taskId } from "../helpers/store.ts";

test("a page that looked at its thousand tasks is short, and the next one goes on behind them", async () => {
  const store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  const group = { policy: "all", tasks: [taskId(1)] } as const;
  await admit(store, { number: 1, request: { ...newTask().request, group } });
  for (let number = 2; number <= LOOKED_AT + 2; number++) await admit(store, { number });
  let turns = 0;
  const turn = async () => {
    turns += 1;
  };
  const read = (after?: string) =>
    listGroups({ tasks: store.tasks, turn }, { accountId: ACCOUNT }, { limit: 20, after });
  const first = await read();
  expect([first.groups.length, turns]).toEqual([0, 9]);
  const second = await read(first.next ?? "");
  expect([second.groups.map(({ members }) => members[0]?.id), second.next]).toEqual([[taskId(1)], null]);
  await store.stop();
});
