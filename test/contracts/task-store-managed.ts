import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import type { ManagedTaskFilter } from "../../src/domain/ports/task-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  keyId,
  LANE,
  lane,
  type MakeStore,
  newKey,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

/** The numbers of the tasks of every page, one page after the other. */
async function paged(store: StoreUnderTest, filter: Partial<ManagedTaskFilter> = {}): Promise<number[][]> {
  const pages: number[][] = [];
  for (let after: ManagedTaskFilter["after"]; ; ) {
    const { tasks, next } = await store.tasks.managedTasks({ limit: 2, after, ...filter });
    pages.push(tasks.map(({ id }) => Number(id.slice(-6))));
    if (next === undefined) return pages;
    after = next;
  }
}

/** How every implementation of `TaskStore` lists the tasks of all accounts. */
export function describeManagedTasks(make: MakeStore): void {
  describe("tasks of all accounts", () => {
    test(
      "come newest first, page by page, with whose they are and who makes them",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2), name: "studio" });
        await store.accounts.createKey(newKey({ number: 2, accountId: accountId(2), name: "web" }));
        await admit(store, { number: 1 });
        await admit(store, { number: 3, accountId: accountId(2), keyId: keyId(2), lane: lane("other") });
        await admit(store, { number: 2 });
        expect(await paged(store)).toEqual([[3, 2], [1]]);
        const { tasks } = await store.tasks.managedTasks({ limit: 9 });
        expect(tasks[0]).toEqual({
          ...(await store.tasks.summary(taskId(3)))!,
          account: { id: accountId(2), name: "studio" },
          key: { id: keyId(2), name: "web" },
          provider: lane("other"),
        });
        expect(tasks[1]).toMatchObject({ account: { id: ACCOUNT }, provider: LANE });
      }),
    );

    test(
      "are narrowed by account, kind, status and model together, down to none",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admit(store, { number: 1 });
        await submitOne(store);
        await admit(store, { number: 2, kind: "video" });
        await admit(store, { number: 3, accountId: accountId(2), model: "other" as ModelId });
        await admit(store, { number: 4, accountId: accountId(2) });
        const listed = async (filter: Partial<ManagedTaskFilter>) => (await paged(store, filter)).flat();
        expect(await listed({ accountId: ACCOUNT })).toEqual([2, 1]);
        expect(await listed({ accountId: accountId(2), model: "other" as ModelId })).toEqual([3]);
        expect(await listed({ status: "processing" })).toEqual([1]);
        expect(await listed({ kind: "image", status: "pending" })).toEqual([4, 3]);
        expect(await listed({ kind: "video", accountId: accountId(2) })).toEqual([]);
        expect(await listed({ accountId: accountId(9) })).toEqual([]);
      }),
    );
  });
}
