import { describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import type { TaskFilter } from "../../src/domain/ports/task-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  assetId,
  claimOne,
  type MakeStore,
  type StoreUnderTest,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

async function listed(store: StoreUnderTest, filter: Partial<TaskFilter> = {}) {
  const tasks = await store.tasks.list({ accountId: ACCOUNT, limit: 100, ...filter });
  return tasks.map(({ id }) => id);
}

export function describeReads(make: MakeStore): void {
  describe("list", () => {
    test(
      "an account's tasks come newest first, page by page",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        for (const number of [2, 1, 4, 3]) await admit(store, { number });
        await admit(store, { number: 9, accountId: accountId(2) });
        expect(await listed(store)).toEqual([taskId(4), taskId(3), taskId(2), taskId(1)]);
        expect(await listed(store, { limit: 2 })).toEqual([taskId(4), taskId(3)]);
        expect(await listed(store, { limit: 2, after: taskId(3) })).toEqual([taskId(2), taskId(1)]);
        expect(await listed(store, { after: taskId(1) })).toEqual([]);
      }),
    );

    test(
      "filters by kind, status and model narrow the list together",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        await submitOne(store);
        await admit(store, { number: 2, kind: "video" });
        await admit(store, { number: 3, model: "other" as ModelId });
        expect(await listed(store, { status: "processing" })).toEqual([taskId(1)]);
        expect(await listed(store, { kind: "video" })).toEqual([taskId(2)]);
        expect(await listed(store, { model: "other" as ModelId })).toEqual([taskId(3)]);
        expect(await listed(store, { kind: "image", status: "pending" })).toEqual([taskId(3)]);
      }),
    );
  });

  test(
    "what is not there is undefined or empty",
    withStore(make, async (store) => {
      expect(await store.tasks.byId(taskId(1))).toBeUndefined();
      expect(await store.tasks.assetById(assetId(1))).toBeUndefined();
      expect(await store.tasks.attempts(taskId(1))).toEqual([]);
      expect(await listed(store)).toEqual([]);
    }),
  );

  test(
    "live tasks are counted by whether they are under way",
    withStore(make, async (store) => {
      await admit(store, { number: 1 });
      await claimOne(store);
      await admit(store, { number: 2 });
      expect(await store.tasks.counts()).toEqual({ queued: 1, underWay: 1 });
      await store.tasks.requestCancel(taskId(2), ACCOUNT, 1);
      expect(await store.tasks.counts()).toEqual({ queued: 0, underWay: 1 });
    }),
  );
}
