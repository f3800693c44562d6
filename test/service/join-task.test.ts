import { afterEach, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { TaskId } from "../../src/domain/ids.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import { createTaskFeed } from "../../src/runtime/signals.ts";
import { createJoinTask, type JoiningRequest } from "../../src/service/join-task.ts";
import { createOrphans } from "../../src/service/orphans.ts";
import type { Store } from "../../src/store/open.ts";
import { countingIds, fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { fakeSecrets } from "../helpers/secrets.ts";
import { ACCOUNT, addAccount, endOne, keyId, NOW, newTask } from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Requests that are equal, and become tasks of a store. */
async function setup() {
  const model = createCatalog().find("sandbox-image");
  if (model === undefined) throw new Error("There is no such model.");
  const store = openEmptyStore();
  stops.push(store.stop);
  await addAccount(store, { id: ACCOUNT });
  const ids = countingIds();
  const [feed, reads] = [createTaskFeed(), [] as TaskId[]];
  const trouble = { isThere: false };
  const summary: Store["tasks"]["summary"] = async (id) => {
    reads.push(id);
    if (trouble.isThere) throw new StorageError("away", "The database is away.");
    return store.tasks.summary(id);
  };
  const join = createJoinTask({
    ...{ tasks: { ...store.tasks, summary }, clock: fakeClock(), feed, secrets: fakeSecrets() },
    orphans: createOrphans(),
    async createTask({ onNew }) {
      const task = newTask({ id: ids.create("task") });
      onNew?.(task.id);
      await store.tasks.admit({ task, assets: [] });
      return { taskId: task.id, held: task.held, replayed: false, task };
    },
  });
  const request: JoiningRequest = {
    ...{ model, kind: model.kind, names: {}, body: { prompt: "A fox" }, identity: { prompt: "A fox" } },
    principal: {
      accountId: ACCOUNT,
      keyId: keyId(1),
      keyName: "key",
      policy: {},
      priceMultiplier: 1_000_000,
    },
    ...{ requestId: "req_1", origin: "http://localhost", endpoint: "POST /x" },
  };
  /** Ends the task, and tells of it. */
  const end = async (id: TaskId) => {
    expect(await store.tasks.requestCancel(id, ACCOUNT, NOW)).toBe("cancelled");
    feed.publish({ id, accountId: ACCOUNT }, true);
  };
  return { store, join, request, reads, end, trouble };
}

test("a task that was left is not joined once its files were removed", async () => {
  const { store, join, request } = await setup();
  const { taskId, leave } = await join(request);
  await endOne(store, "completed");
  leave();
  expect((await join(request)).taskId).toBe(taskId);
  leave();
  await store.retention.expire(["outputs"], [taskId], NOW);
  expect((await join(request)).taskId).not.toBe(taskId);
});

test("a call that waits for its new task reads it once, at its end, also where that came before the wait began", async () => {
  const { join, request, reads, end } = await setup();
  const gone = new AbortController().signal;
  for (const isEarly of [false, true]) {
    const { taskId, wait } = await join({ ...request, identity: { isEarly } });
    if (isEarly) await end(taskId);
    const waiting = wait({ waitMs: 60_000, signal: gone, gone });
    await Bun.sleep(0);
    expect(reads.splice(0)).toEqual(isEarly ? [taskId] : []);
    if (!isEarly) await end(taskId);
    expect((await waiting).status).toBe("cancelled");
    reads.length = 0;
    // The end is over: who asks again is answered at once.
    expect((await wait({ waitMs: 60_000, signal: gone, gone })).status).toBe("cancelled");
    reads.length = 0;
  }
});

test("a call that leaves its new task, or may not wait, is told how it is", async () => {
  const { join, request } = await setup();
  const leaving = new AbortController();
  const { signal } = leaving;
  const { wait } = await join(request);
  const waiting = wait({ waitMs: 60_000, signal, gone: signal });
  leaving.abort();
  expect((await waiting).status).toBe("pending");
  expect((await wait({ waitMs: 0, signal, gone: signal })).status).toBe("pending");
});

test("a call that is told of trouble with the store, and comes again, is the same task", async () => {
  const { join, request, trouble, end } = await setup();
  const { signal } = new AbortController();
  const first = await join(request);
  const waiting = first.finish({ waitMs: 60_000, gone: signal, stopping: signal });
  trouble.isThere = true;
  await end(first.taskId);
  await expect(waiting).rejects.toMatchObject({
    ...{ code: "service_unavailable", details: { taskId: first.taskId, shouldRetry: true } },
    message: expect.stringContaining("was accepted and goes on"),
  });
  // It is cancelled, and the next one is a task of its own. One that goes on is joined.
  trouble.isThere = false;
  const second = await join(request);
  expect(second.taskId).not.toBe(first.taskId);
  trouble.isThere = true;
  const answer = second.wait({ waitMs: 0, signal, gone: signal });
  await expect(answer).rejects.toMatchObject({ code: "service_unavailable" });
  await expect(join(request)).rejects.toBeInstanceOf(StorageError);
  trouble.isThere = false;
  expect((await join(request)).taskId).toBe(second.taskId);
});
