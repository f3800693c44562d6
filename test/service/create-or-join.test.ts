import { afterEach, expect, test } from "bun:test";
import { createCreateOrJoin } from "../../src/service/create-or-join.ts";
import type { CreateTaskRequest } from "../../src/service/create-task.ts";
import { createOrphans } from "../../src/service/orphans.ts";
import { countingIds, fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import { ACCOUNT, addAccount, endOne, newTask } from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Creates tasks of a store, for equal requests. */
async function setup() {
  const store = openEmptyStore();
  stops.push(store.stop);
  await addAccount(store, { id: ACCOUNT });
  const ids = countingIds();
  const create = createCreateOrJoin({
    ...{ tasks: store.tasks, clock: fakeClock(), secrets: fakeSecrets(), orphans: createOrphans() },
    async createTask() {
      const task = newTask({ id: ids.create("task") });
      await store.tasks.admit({ task, assets: [] });
      return { taskId: task.id, held: task.held, replayed: false, task };
    },
  });
  const request: CreateTaskRequest = {
    ...{ kind: "video", body: { prompt: "A fox" }, principal: PRINCIPAL },
    ...{ requestId: "req_1", origin: "http://localhost", endpoint: "POST /x" },
  };
  return { store, create, request, gone: { ...request, gone: () => AbortSignal.abort() } };
}

test("the task of a caller that left is joined by its next equal request, and by no other", async () => {
  const { create, request, gone } = await setup();
  const { taskId, held } = await create(gone);
  const other = await create({ ...request, body: { prompt: "A hare" } });
  expect(other.taskId).not.toBe(taskId);
  expect((await create({ ...request, endpoint: "POST /y" })).taskId).not.toBe(taskId);
  expect(await create(request)).toEqual({ taskId, held, replayed: false });
  expect((await create(request)).taskId).not.toBe(taskId);
});

test("a caller that leaves a task that it joined leaves it to the next", async () => {
  const { create, request, gone } = await setup();
  const { taskId } = await create(gone);
  expect((await create(gone)).taskId).toBe(taskId);
  expect((await create(request)).taskId).toBe(taskId);
});

test("a task that was charged is joined with what it was charged, and one that failed is not joined", async () => {
  const { store, create, request, gone } = await setup();
  const { taskId } = await create(gone);
  await endOne(store, "completed");
  const charged = (await store.tasks.summary(taskId))?.charged;
  expect(charged).toBeDefined();
  expect(await create(request)).toEqual({ taskId, held: charged as never, replayed: false });
  const failing = await create(gone);
  await endOne(store, "failed");
  expect((await create(request)).taskId).not.toBe(failing.taskId);
});

test("the task of a caller that left is not joined where its request had an idempotency key, which says what is equal", async () => {
  const { create, request, gone } = await setup();
  const { taskId } = await create({ ...gone, idempotencyKey: "one" });
  expect((await create(request)).taskId).not.toBe(taskId);
});
