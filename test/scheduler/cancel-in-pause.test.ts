import { expect, test } from "bun:test";
import { WHOLE_ACCOUNT } from "../../src/domain/ports/route-store.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT } from "../helpers/store.ts";

test.each([
  ["stops it", async () => undefined],
  ["refuses", () => Promise.reject(new Error("503"))],
])("a cancel reaches an upstream once that has paused its account, and %s", async (_, answer) => {
  let cancels = 0;
  const provider = scriptedProvider({
    poll: async () => ({ kind: cancels > 0 ? "cancelled" : "pending" }),
    cancel: () => {
      cancels += 1;
      return answer();
    },
  });
  const engine = await createEngine([provider], { models: [{ ...MODEL, deadlineMs: 900_000 }] });
  const { clock, scheduler, deps, store } = engine;
  const id = await engine.admit();
  await scheduler.tick();
  deps.pace.slow({ lane: provider.lane, upstreamModel: WHOLE_ACCOUNT }, 300_000);
  await store.tasks.requestCancel(id, ACCOUNT, clock.now());
  for (let i = 0; i < 5; i++) {
    await scheduler.tick();
    clock.advance(50_000);
  }
  expect([cancels, (await engine.task(id)).status]).toEqual([1, "processing"]);
  clock.advance(50_000);
  await engine.runToEnd();
  expect((await engine.task(id)).status).toBe("cancelled");
});
