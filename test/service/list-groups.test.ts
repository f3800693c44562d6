import { expect, test } from "bun:test";
import { listGroups } from "../../src/service/list-groups.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { ACCOUNT, addAccount, admit, newTask, taskId } from "../helpers/store.ts";

test("a page has as many groups as it may, however many tasks of no group lie between them", async () => {
  const store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  for (let number = 1; number <= 2_101; number++) {
    const group = { policy: "all", tasks: [taskId(number)] } as const;
    const isFirst = number % 1_050 === 1;
    await admit(store, { number, ...(isFirst && { request: { ...newTask().request, group } }) });
  }
  const read = (after?: string) =>
    listGroups({ tasks: store.tasks }, { accountId: ACCOUNT }, { limit: 2, after });
  const firstsOf = ({ groups }: Awaited<ReturnType<typeof read>>) =>
    groups.map(({ members }) => members[0]?.id);
  const first = await read();
  expect(firstsOf(first)).toEqual([taskId(2_101), taskId(1_051)]);
  const second = await read(first.next ?? "");
  expect([firstsOf(second), second.next]).toEqual([[taskId(1)], null]);
  await store.stop();
});
