import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelId, TaskId } from "../../src/domain/ids.ts";
import type { ManagedTaskFilter } from "../../src/domain/ports/task-store.ts";
import { TASK_KINDS, type TaskKind } from "../../src/domain/task/request.ts";
import { TASK_STATUSES, type TaskStatus, type TaskSummary } from "../../src/domain/task/task.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  admit,
  attemptId,
  claimOne,
  endOne,
  keyId,
  type MakeStore,
  NOW,
  newIntent,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const ACCOUNTS = [ACCOUNT, accountId(2)] as const;
const MODELS = ["a", "b", "c"].map((name) => name as ModelId);
/** What tasks are made in this order, so that each can be brought to its status alone: those that stay queued come last. */
const STATUSES = [
  "completed",
  "failed",
  "cancelled",
  "processing",
  "pending",
] as const satisfies TaskStatus[];

/** Of each task: which account's and key's it is, its kind, model and status. Its place in the list is its age. */
const TASKS = fc.array(
  fc.record({
    accountId: fc.constantFrom(...ACCOUNTS),
    keyId: fc.constantFrom(keyId(1), keyId(2)),
    kind: fc.constantFrom<TaskKind>(...TASK_KINDS),
    model: fc.constantFrom(...MODELS),
    status: fc.constantFrom(...STATUSES),
  }),
  { minLength: 4, maxLength: 16, size: "max" },
);
type Tasks = typeof TASKS extends fc.Arbitrary<infer T> ? T : never;

async function make(store: StoreUnderTest, tasks: Tasks): Promise<TaskSummary[]> {
  const numbered = tasks.map((task, i) => ({ ...task, number: i + 1 }));
  for (const wanted of STATUSES)
    for (const { status, number, ...task } of numbered.filter((each) => each.status === wanted)) {
      await admit(store, { ...task, number });
      if (status === "processing")
        await store.tasks.begin(await claimOne(store), newIntent({ id: attemptId(number) }));
      else if (status !== "pending") await endOne(store, status);
    }
  const read = await Promise.all(numbered.map(({ number }) => store.tasks.summary(taskId(number))));
  return read.map((summary) => summary!).reverse();
}

/** Every combination of what lists are filtered by, what nothing has among them. */
const FILTERS = [undefined, ...TASK_KINDS].flatMap((kind) =>
  [undefined, ...TASK_STATUSES].flatMap((status) =>
    [undefined, ...MODELS.slice(0, 2), "none" as ModelId].map((model) => ({ kind, status, model })),
  ),
);

const isMeant = (task: TaskSummary, { accountId: of, kind, status, model }: Partial<ManagedTaskFilter>) =>
  (of === undefined || task.accountId === of) &&
  (kind === undefined || task.kind === kind) &&
  (status === undefined || task.status === status) &&
  (model === undefined || task.model === model);

/** The ids of the tasks of every page, one page after the other. */
async function readPages(page: (after: TaskId | undefined) => Promise<TaskId[]>, limit: number) {
  const ids: TaskId[] = [];
  for (let after: TaskId | undefined; ; after = ids.at(-1)) {
    const found = await page(after);
    ids.push(...found);
    if (found.length < limit) return ids;
  }
}

/** How every implementation of `TaskStore` filters its lists. */
export function describeLists(open: MakeStore): void {
  describe("lists", () => {
    test("have what a reading of all tasks finds, in either order, for every filter and size of a page", async () => {
      const agrees = (tasks: Tasks, limit: number) =>
        withStore(open, async (store) => {
          await addAccount(store, { id: accountId(2) });
          const all = await make(store, tasks);
          expect(all.map(({ status }) => status).reverse()).toEqual(tasks.map(({ status }) => status));
          for (const filter of FILTERS) {
            const meant = (of?: Partial<ManagedTaskFilter>) =>
              all.filter((task) => isMeant(task, { ...filter, ...of }));
            for (const account of ACCOUNTS) {
              const own = { ...filter, accountId: account };
              const expected = meant(own);
              expect(await store.tasks.list({ ...own, limit: 99 })).toEqual(expected);
              const listed = async (after?: TaskId) =>
                (await store.tasks.list({ ...own, limit, after })).map(({ id }) => id);
              expect(await readPages(listed, limit)).toEqual(expected.map(({ id }) => id));
              const oldest = async (after?: TaskId) =>
                (await store.tasks.list({ ...own, limit, after }, "oldest")).map(({ id }) => id);
              expect(await readPages(oldest, limit)).toEqual(expected.map(({ id }) => id).reverse());
            }
            for (const account of [undefined, ...ACCOUNTS]) {
              const managed = { ...filter, accountId: account };
              const expected = meant(managed).map(({ id }) => id);
              const { tasks: found, next } = await store.tasks.managedTasks({ ...managed, limit });
              expect(found.map(({ id }) => id)).toEqual(expected.slice(0, limit));
              // The last page says that it is the last.
              expect(next).toBe(expected.length > limit ? expected[limit - 1] : undefined);
              const listed = async (after?: TaskId) =>
                (await store.tasks.managedTasks({ ...managed, limit, after })).tasks.map(({ id }) => id);
              expect(await readPages(listed, limit)).toEqual(expected);
            }
          }
        })();
      const sizes = fc.integer({ min: 1, max: 4 });
      await fc.assert(fc.asyncProperty(TASKS, sizes, agrees), { numRuns: 6 });
    }, 240_000);

    test(
      "find a task by the status that it has now",
      withStore(open, async (store) => {
        const of = async (status: TaskStatus) =>
          (await store.tasks.list({ accountId: ACCOUNT, status, limit: 9 })).map(({ id }) => id);
        await admit(store);
        expect([await of("pending"), await of("processing")]).toEqual([[taskId(1)], []]);
        await endOne(store, "failed", { at: NOW + 5 });
        expect([await of("pending"), await of("processing"), await of("failed")]).toEqual([
          [],
          [],
          [taskId(1)],
        ]);
      }),
    );
  });
}
