import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import type { ManagedTaskFilter } from "../../src/domain/ports/task-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  bySystem,
  keyId,
  LANE,
  lane,
  type MakeStore,
  NOW,
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
        await store.accounts.createKey(
          newKey({ number: 2, accountId: accountId(2), name: "web" }),
          undefined,
          bySystem(),
        );
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

    test(
      "are told by their latest changes in the order of these, whoever's they are, in pages of any size",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2), name: "studio" });
        expect(await store.tasks.latestManagedChange()).toBe(0);
        for (const number of [1, 2, 3, 4, 5, 6]) {
          const accountOf = number % 2 === 0 ? accountId(2) : ACCOUNT;
          await admit(store, { number, accountId: accountOf });
        }
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        await store.tasks.requestCancel(taskId(4), accountId(2), NOW);
        const whole = await store.tasks.managedChanges({ after: 0, limit: 100 });
        expect(whole.map(({ task }) => [Number(task.id.slice(-6)), task.account.name, task.status])).toEqual([
          [2, "studio", "pending"],
          [3, ACCOUNT, "pending"],
          [5, ACCOUNT, "pending"],
          [6, "studio", "pending"],
          [1, ACCOUNT, "cancelled"],
          [4, "studio", "cancelled"],
        ]);
        expect(await store.tasks.latestManagedChange()).toBe(whole.at(-1)!.number);
        for (const limit of [1, 2, 4]) {
          const read: typeof whole = [];
          for (let after = 0; ; after = read.at(-1)?.number ?? after) {
            const page = await store.tasks.managedChanges({ after, limit });
            read.push(...page);
            if (page.length < limit) break;
          }
          expect(read).toEqual(whole);
        }
        expect(await store.tasks.managedChanges({ after: whole.at(-1)!.number, limit: 9 })).toEqual([]);
      }),
    );
  });
}
