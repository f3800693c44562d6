import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import type { ManagedTaskFilter, TaskSearch } from "../../src/domain/ports/task-store.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  endOne,
  type MakeStore,
  NOW,
  newTask,
  type StoreUnderTest,
  taskId,
} from "../helpers/store.ts";

/** What every index of prompts promises. */
export function describeSearch(name: string, make: MakeStore): void {
  describe(name, () => {
    let store: StoreUnderTest;
    const prompted = (number: number, prompt: string, more: Parameters<typeof admit>[1] = {}) =>
      admit(store, { number, ...more, request: { ...newTask().request, ...more.request, prompt } });
    const search = (text: string, more: Partial<TaskSearch> = {}) =>
      store.tasks.search({ accountId: ACCOUNT, limit: 10, ...more, text });
    const found = async (text: string, more: Partial<TaskSearch> = {}) =>
      (await search(text, more)).tasks.map(({ id }) => id);
    const foundOfAll = async (text: string, more: Partial<ManagedTaskFilter> = {}) => {
      const { tasks } = await store.tasks.managedTasks({ limit: 10, ...more, text });
      return tasks.map(({ id }) => id);
    };

    beforeEach(async () => {
      store = await make();
      await addAccount(store, { id: ACCOUNT });
    });
    afterEach(() => store.stop());

    test("a task is found once it is indexed, and each is indexed once", async () => {
      await prompted(1, "a cat");
      expect(await found("cat")).toEqual([]);
      expect(await store.search.index(10)).toBe(1);
      expect(await store.search.index(10)).toBe(0);
      expect(await found("cat")).toEqual([taskId(1)]);
      for (let number = 2; number <= 6; number += 1) await prompted(number, "a cat");
      expect([await store.search.index(3), await store.search.index(3)]).toEqual([3, 2]);
      expect(await found("cat")).toEqual([6, 5, 4, 3, 2, 1].map(taskId));
    });

    test("an account finds its own tasks, and an operator all", async () => {
      const other = accountId(2);
      await addAccount(store, { id: other });
      await prompted(1, "a cat");
      await prompted(2, "a cat", { accountId: other });
      await store.search.index(10);
      expect(await found("cat")).toEqual([taskId(1)]);
      expect(await found("cat", { accountId: other })).toEqual([taskId(2)]);
      expect(await foundOfAll("cat")).toEqual([taskId(2), taskId(1)]);
      expect(await foundOfAll("cat", { accountId: other })).toEqual([taskId(2)]);
    });

    test("kind, model and status narrow a search, and none of them is a word of it", async () => {
      const model = "other-model" as ModelId;
      await prompted(1, "a cat");
      await prompted(2, "a cat", { model });
      await prompted(3, "a cat", { kind: "video" });
      await store.search.index(10);
      const { kind, model: usual } = newTask();
      expect(await found("cat", { model })).toEqual([taskId(2)]);
      expect(await found("cat", { kind: "video" })).toEqual([taskId(3)]);
      expect(await found("cat", { kind, model: usual })).toEqual([taskId(1)]);
      expect(await found("cat", { status: "pending" })).toEqual([3, 2, 1].map(taskId));
      expect(await found("cat", { status: "failed" })).toEqual([]);
      for (const text of [`kind${kind}`, ACCOUNT, ACCOUNT.replace("_", "")])
        expect(await found(text)).toEqual([]);
    });

    test("pages follow one another, also past tasks of another status", async () => {
      for (let number = 1; number <= 7; number += 1) await prompted(number, "a cat");
      await store.search.index(10);
      const { task: ended } = await endOne(store, "failed");
      const left = [7, 6, 5, 4, 3, 2, 1].map(taskId).filter((id) => id !== ended.id);
      const first = await search("cat", { limit: 3, status: "pending" });
      expect([first.tasks.map(({ id }) => id), first.next]).toEqual([left.slice(0, 3), left[2]]);
      const second = await search("cat", { limit: 3, status: "pending", after: left[2] });
      expect([second.tasks.map(({ id }) => id), second.next]).toEqual([left.slice(3), undefined]);
      // A place between others, of a task that is not there.
      expect(await found("cat", { after: taskId(99), limit: 1 })).toEqual([taskId(7)]);
      expect(await found("cat", { after: taskId(0) })).toEqual([]);
    });

    test("a task that is removed leaves the index with it, indexed or not yet", async () => {
      await prompted(1, "a cat");
      await endOne(store, "failed");
      await store.search.index(10);
      await prompted(2, "a cat");
      await endOne(store, "failed");
      for (const number of [1, 2])
        expect((await store.retention.remove(taskId(number), NOW, ACCOUNT)).kind).toBe("removed");
      expect([await found("cat"), await foundOfAll("cat")]).toEqual([[], []]);
      await store.search.index(10);
      expect([await found("cat"), await foundOfAll("cat")]).toEqual([[], []]);
    });

    test("a cleared index has nothing, and begins anew", async () => {
      await prompted(1, "a cat");
      await store.search.index(10);
      await store.search.clear();
      await store.search.clear();
      expect(await found("cat")).toEqual([]);
      expect(await store.search.index(10)).toBe(1);
      expect(await found("cat")).toEqual([taskId(1)]);
    });

    test("words count, in any order; side by side where the script has no spaces", async () => {
      await prompted(1, "Ein Café am Meer");
      await prompted(2, "夕暮れの灯台");
      await prompted(3, "台灯");
      await prompted(4, "");
      await store.search.index(10);
      expect(await found("meer cafe")).toEqual([taskId(1)]);
      expect(await found("meer berg")).toEqual([]);
      expect(await found("caf")).toEqual([]);
      expect(await found("灯台")).toEqual([taskId(2)]);
      expect(await found("灯 台")).toEqual([taskId(3), taskId(2)]);
    });

    test("a search reads no further than its page, and says where to go on", async () => {
      for (let number = 1; number <= 520; number += 1) await prompted(number, "a cat");
      while ((await store.search.index(200)) > 0);
      const page = await search("cat", { status: "completed", limit: 5 });
      expect([page.tasks, page.next]).toEqual([[], taskId(21)]);
      expect(await search("cat", { status: "completed", limit: 5, after: taskId(21) })).toEqual({
        tasks: [],
        next: undefined,
      });
    });
  });
}
