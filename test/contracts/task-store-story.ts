import { describe, expect, test } from "bun:test";
import { outputsReady, requeued, submitted, succeeded, traced } from "../../src/domain/task/transition.ts";
import {
  ACCOUNT,
  admit,
  assetId,
  attemptId,
  beginOne,
  bySystem,
  callbackId,
  claimOne,
  keyId,
  LANE,
  lane,
  type MakeStore,
  micros,
  NOW,
  newAsset,
  newIntent,
  newKey,
  newTask,
  submitOne,
  taskId,
  withStore,
} from "../helpers/store.ts";

const URL = "https://hooks.example.com/?token=7";

/** What every implementation of `TaskStore` tells of one task. */
export function describeStory(make: MakeStore): void {
  describe("story", () => {
    test(
      "a task that was just accepted has its account, its key and its inputs, and nothing else",
      withStore(make, async (store) => {
        await store.accounts.createKey(newKey({ name: "web" }), undefined, bySystem());
        const input = newAsset({ role: "input" });
        const { request } = newTask();
        const of = { role: "image", source: { kind: "asset", assetId: input.id } } as const;
        const away = { role: "image", param: "image_urls[2]", source: { kind: "url", url: URL } } as const;
        const inputs = [{ ...of, param: "image_urls[0]" }, { ...of, param: "image_urls[1]" }, away];
        const task = newTask({ request: { ...request, inputs } });
        await store.tasks.admit({ task, assets: [input] });
        expect(await store.tasks.story(taskId(1))).toEqual({
          task: (await store.tasks.byId(taskId(1)))!,
          account: { id: ACCOUNT, name: ACCOUNT },
          key: { id: keyId(1), name: "web" },
          attempts: [],
          inputs: [input],
        });
      }),
    );

    test(
      "attempts tell when they were sent, taken, made and over",
      withStore(make, async (store) => {
        await admit(store);
        const first = await beginOne(store);
        const again = { dueAt: NOW + 10, failures: 1, lane: LANE, routeIndex: 0 };
        await store.tasks.apply(first, requeued(NOW + 1, again, { attempt: attemptId(1), detail: "busy" }));
        const lease = await claimOne(store, { now: NOW + 10 });
        await store.tasks.begin(lease, newIntent({ id: attemptId(2), at: NOW + 10 }));
        await store.tasks.apply(lease, submitted(NOW + 20, attemptId(2), { job: "u1" }, NOW + 50));
        const running = await claimOne(store, { now: NOW + 50 });
        const outputs = [{ kind: "remote", ref: 1 }] as const;
        await store.tasks.apply(running, outputsReady(NOW + 60, attemptId(2), outputs));
        const asset = newAsset();
        const end = succeeded(running.task, NOW + 70, attemptId(2), [asset], undefined, callbackId(1));
        await store.tasks.apply(running, end);
        const story = await store.tasks.story(taskId(1));
        expect(story?.attempts).toMatchObject([
          { sequence: 1, state: "rejected", startedAt: NOW, endedAt: NOW + 1, detail: "busy" },
          {
            ...{ sequence: 2, state: "done", startedAt: NOW + 10, acceptedAt: NOW + 20 },
            ...{ madeAt: NOW + 60, endedAt: NOW + 70 },
          },
        ]);
        expect(story?.attempts[0]).not.toHaveProperty("acceptedAt", expect.anything());
        expect(story?.charge).toEqual([{ sku: "image", quantity: 1, amount: story!.task.held }]);
        expect(story?.refunded).toBeUndefined();
        await store.accounts.refund(taskId(1), micros(7), "blurred", bySystem());
        expect((await store.tasks.story(taskId(1)))?.refunded).toBe(micros(7));
      }),
    );

    test(
      "attempts keep the ways they were chosen among, and the latest that was seen of them",
      withStore(make, async (store) => {
        await admit(store);
        const considered = [
          { lane: LANE, upstreamModel: "m", verdict: "chosen" },
          { lane: lane("other"), upstreamModel: "o", verdict: "open" },
        ] as const;
        const lease = await claimOne(store);
        await store.tasks.begin(lease, newIntent({ considered }));
        const taken = submitted(NOW + 1, attemptId(1), { job: 1 }, NOW + 50);
        await store.tasks.apply(lease, traced(taken, { connectMs: 1, httpStatus: 202 }));
        const kept = async () => (await store.tasks.attempts(taskId(1)))[0];
        expect(await kept()).toMatchObject({ considered, trace: { connectMs: 1, httpStatus: 202 } });
        const running = await claimOne(store, { now: NOW + 50 });
        expect(running.attempt?.trace).toEqual({ connectMs: 1, httpStatus: 202 });
        const ready = outputsReady(NOW + 60, attemptId(1), [{ kind: "remote", ref: 1 }]);
        await store.tasks.apply(running, traced(ready, { connectMs: 1, polls: 3 }));
        const end = succeeded(running.task, NOW + 70, attemptId(1), [newAsset()], undefined, callbackId(1));
        await store.tasks.apply(running, end);
        expect(await kept()).toMatchObject({ state: "done", considered, trace: { connectMs: 1, polls: 3 } });
      }),
    );

    test(
      "a step of the clock moves the times of an attempt that is under way together",
      withStore(make, async (store) => {
        await admit(store);
        await submitOne(store);
        await store.time.move(-500);
        const [attempt] = (await store.tasks.story(taskId(1)))!.attempts;
        expect(attempt).toMatchObject({ startedAt: NOW - 500, acceptedAt: NOW - 500 });
      }),
    );

    test(
      "a callback comes with its latest send",
      withStore(make, async (store) => {
        await admit(store, { callbackUrl: URL });
        const lease = await submitOne(store);
        const { task } = lease;
        const running = await claimOne(store, { now: NOW + 50 });
        const end = succeeded(task, NOW + 60, attemptId(1), [newAsset()], undefined, callbackId(1));
        await store.tasks.apply(running, end);
        const told = async () => (await store.tasks.story(taskId(1)))?.callback;
        expect(await told()).toMatchObject({
          callback: { id: callbackId(1), state: "pending", attempts: 0 },
        });
        expect((await told())?.lastSend).toBeUndefined();
        const limits = { total: 1, perAccount: 1, perHost: 1 };
        for (const [now, status] of [
          [NOW + 60, 500],
          [NOW + 90, 503],
        ] as const) {
          const [send] = await store.callbacks.claim({ now, leaseMs: 9, limits, underWay: [] });
          await store.callbacks.record(send!, { kind: "refused", status }, now + 1, now + 30);
        }
        expect(await told()).toMatchObject({
          callback: { attempts: 2, dueAt: NOW + 120 },
          lastSend: { sequence: 2, outcome: "refused", status: 503 },
        });
      }),
    );

    test(
      "what is not there has none",
      withStore(make, async (store) => {
        expect(await store.tasks.story(taskId(1))).toBeUndefined();
        expect((await admit(store)).kind).toBe("admitted");
        expect((await store.tasks.story(taskId(1)))?.inputs).toEqual([]);
        expect(await store.tasks.assetById(assetId(9))).toBeUndefined();
      }),
    );
  });
}
