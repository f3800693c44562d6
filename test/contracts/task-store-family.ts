import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TaskId } from "../../src/domain/ids.ts";
import type { TaskStore } from "../../src/domain/ports/task-store.ts";
import type { FamilyPage } from "../../src/domain/task/family.ts";
import { RELATIONS } from "../../src/domain/task/lineage.ts";
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
  withStore,
} from "../helpers/store.ts";

const OTHER = accountId(2);

const makeTask = (store: StoreUnderTest, number: number, of?: number, accountId = ACCOUNT) =>
  admit(store, {
    ...{ number, accountId },
    ...(of !== undefined && { parent: { id: taskId(of), relation: RELATIONS[number % RELATIONS.length]! } }),
  });

/** Each node by its number: below which one it is, or that it is gone. */
const shown = (page: FamilyPage | undefined) =>
  page?.nodes.map((node) => {
    const [id, parent] = node.kind === "task" ? [node.task.id, node.task.parent] : [node.id, node.parent];
    const below = parent === undefined ? "" : ` of ${Number(parent.id.slice(5))}`;
    return `${node.kind === "task" ? "" : "gone "}${Number(id.slice(5))}${below}`;
  });

const all = { limit: 99 };

/** What every implementation of `TaskStore` does with families and groups. */
export function describeFamilies(make: MakeStore): void {
  test(
    "the groups of an account are found by their first tasks, newest first and page by page, until these are removed",
    withStore(make, async (store) => {
      await addAccount(store, { id: OTHER });
      const of = (number: number, first: number, accountId = ACCOUNT) => {
        const group = { policy: "all", tasks: [taskId(first), taskId(first + 1)] } as const;
        return admit(store, { number, accountId, request: { ...newTask().request, group } });
      };
      for (const first of [1, 4, 7]) {
        await of(first, first);
        await of(first + 1, first);
        await makeTask(store, first + 2);
      }
      await of(10, 10, OTHER);
      const page = async (limit: number, after?: number) => {
        const found = await store.tasks.groups(ACCOUNT, {
          limit,
          after: after === undefined ? after : taskId(after),
        });
        return found.map(({ id }) => Number(id.slice(5)));
      };
      expect([await page(2), await page(2, 4), await page(2, 1)]).toEqual([[7, 4], [1], []]);
      await endOne(store, "failed");
      expect(await page(9)).toEqual([7, 4, 1]);
      await store.retention.remove(taskId(1), NOW);
      expect(await page(9)).toEqual([7, 4]);
    }),
  );

  describe("families", () => {
    test(
      "a family is the same whichever of its tasks is asked for, and a task by itself is one",
      withStore(make, async (store) => {
        await makeTask(store, 1);
        await makeTask(store, 2, 1);
        await makeTask(store, 3);
        await makeTask(store, 4, 2);
        await makeTask(store, 5, 1);
        for (const number of [1, 2, 4, 5])
          expect(shown(await store.tasks.family(taskId(number), ACCOUNT, all))).toEqual([
            ...["1", "2 of 1", "4 of 2", "5 of 1"],
          ]);
        expect(await store.tasks.family(taskId(3), ACCOUNT, all)).toEqual({
          nodes: [{ kind: "task", task: (await store.tasks.summary(taskId(3)))! }],
          next: undefined,
        });
        const { parent } = (await store.tasks.summary(taskId(2)))!;
        expect(parent).toEqual({ id: taskId(1), relation: RELATIONS[2]! });
        expect((await store.tasks.byId(taskId(2)))?.parent).toEqual(parent);
      }),
    );

    test(
      "another account's task has no family, and nothing joins one",
      withStore(make, async (store) => {
        await addAccount(store, { id: OTHER });
        await makeTask(store, 1);
        await makeTask(store, 2, 1, OTHER);
        await makeTask(store, 3, 1, OTHER);
        expect(await store.tasks.family(taskId(1), OTHER, all)).toBeUndefined();
        expect(await store.tasks.family(taskId(9), ACCOUNT, all)).toBeUndefined();
        expect(shown(await store.tasks.family(taskId(1), ACCOUNT, all))).toEqual(["1"]);
        expect(shown(await store.tasks.family(taskId(2), OTHER, all))).toEqual(["2 of 1"]);
      }),
    );

    test(
      "a removed task stays in its place, and of one whose row is gone its id",
      withStore(make, async (store) => {
        await makeTask(store, 1);
        await endOne(store, "failed");
        await makeTask(store, 2, 1);
        await endOne(store, "failed");
        await makeTask(store, 3, 2);
        await store.retention.remove(taskId(2), NOW);
        const family = () => store.tasks.family(taskId(3), ACCOUNT, all);
        expect(shown(await family())).toEqual(["1", "gone 2 of 1", "3 of 2"]);
        expect(await store.tasks.family(taskId(2), ACCOUNT, all)).toBeUndefined();
        await store.retention.remove(taskId(1), NOW);
        await store.retention.sumUp([taskId(1), taskId(2)]);
        expect(shown(await family())).toEqual(["gone 2", "3 of 2"]);
        await makeTask(store, 4, 3);
        expect(shown(await store.tasks.family(taskId(4), ACCOUNT, all))).toEqual([
          ...["gone 2", "3 of 2", "4 of 3"],
        ]);
      }),
    );

    test("pages of any size have a whole family once, and never another account's task", async () => {
      const births = fc.array(fc.record({ of: fc.nat(12), isOther: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      });
      await fc.assert(
        fc.asyncProperty(births, fc.integer({ min: 1, max: 5 }), async (given, limit) => {
          await withStore(make, async (store) => {
            await addAccount(store, { id: OTHER });
            const owners = given.map(({ isOther }) => (isOther ? OTHER : ACCOUNT));
            for (const [i, { of }] of given.entries())
              await makeTask(store, i + 1, of === 0 || of > i ? undefined : of, owners[i]!);
            for (const [i, owner] of owners.entries()) {
              const ids = await pagesOf(store.tasks, taskId(i + 1), limit, owner);
              expect(new Set(ids).size).toBe(ids.length);
              expect(ids).toContain(taskId(i + 1));
              for (const id of ids) expect((await store.tasks.summary(id))?.accountId).toBe(owner);
              const whole = await store.tasks.family(taskId(i + 1), owner, all);
              expect(whole?.nodes.map((node) => (node.kind === "task" ? node.task.id : node.id))).toEqual(
                ids,
              );
            }
          })();
        }),
        { numRuns: 15 },
      );
    });
  });
}

async function pagesOf(
  tasks: Pick<TaskStore, "family">,
  id: TaskId,
  limit: number,
  owner: typeof ACCOUNT,
): Promise<TaskId[]> {
  const ids: TaskId[] = [];
  for (let after: TaskId | undefined; ; ) {
    const page: FamilyPage = (await tasks.family(id, owner, { limit, after }))!;
    ids.push(...page.nodes.map((node) => (node.kind === "task" ? node.task.id : node.id)));
    if (page.next === undefined) return ids;
    after = page.next;
  }
}
