import { expect, test } from "bun:test";
import type { LaneId } from "../../src/domain/ids.ts";
import { type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import { createEngine, MODEL, type ScriptedProvider, scriptedProvider } from "../helpers/engine.ts";
import { LANE, lane, NOW, newTask, taskId } from "../helpers/store.ts";

const SECOND = lane("second");
const { request } = newTask();
const busy = async (): Promise<never> => {
  throw new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "503", { retryAfterMs: 600_000 });
};
const loads: Partial<ProviderAdapter> = {
  setupOf: ({ upstreamModel }) => `checkpoint ${upstreamModel}`,
};
const FAILED = { kind: "failed", code: "UPSTREAM_ERROR" } as const;

const engineOf = async (...providers: ScriptedProvider[]) => {
  const engine = await createEngine(providers);
  const admit = () => engine.admit({ lane: LANE, setup: providers[0]?.setupOf?.(MODEL.routes[0]!) });
  const state = async () => {
    const { lane: where, setup } = await engine.task(taskId(1));
    return [String(where), setup];
  };
  return { ...engine, admit, state };
};

test("a way that is chosen has the setup of its route at its provider", async () => {
  const withSetup = await engineOf(scriptedProvider(loads));
  expect(withSetup.deps.routing.choose(MODEL, request)?.setup).toBe("checkpoint one");
  const without = await engineOf(scriptedProvider());
  expect(without.deps.routing.choose(MODEL, request)?.setup).toBeUndefined();
  const several = await engineOf(
    scriptedProvider({ ...loads, id: SECOND }),
    Object.assign(scriptedProvider({ ...loads, id: SECOND }), { lane: "second/b" as LaneId }),
  );
  expect(several.deps.routing.choose(MODEL, request)?.setup).toBe("checkpoint two");
});

test.each([
  ["takes the setup of its new route", {}, loads, "checkpoint two"],
  ["has none where its new route needs none", loads, {}, undefined],
])("a task that goes another way %s", async (_, first, second, setup) => {
  const engine = await engineOf(
    scriptedProvider({ ...first, submit: busy }),
    scriptedProvider({ ...second, id: SECOND }),
  );
  await engine.admit();
  await engine.scheduler.tick();
  expect(await engine.state()).toEqual(["second", setup]);
});

test("a task whose job failed unpaid takes the setup of the route that it is handed to", async () => {
  const engine = await engineOf(
    scriptedProvider({ poll: async () => ({ ...FAILED, mayReroute: true }) }),
    scriptedProvider({ ...loads, id: SECOND }),
  );
  await engine.admit();
  await engine.scheduler.tick();
  engine.clock.set(NOW + 10_000);
  await engine.scheduler.tick();
  expect(await engine.state()).toEqual(["second", "checkpoint two"]);
});

test.each([
  ["is refused", { submit: busy }],
  ["was lost", { repeatIsSafe: true, poll: async () => ({ ...FAILED, isLost: true }) }],
])("a task that %s and tries the same way again keeps its setup", async (_, script) => {
  const engine = await engineOf(scriptedProvider({ ...loads, ...script }));
  await engine.admit();
  await engine.scheduler.tick();
  engine.clock.set(NOW + 10_000);
  await engine.scheduler.tick();
  expect((await engine.task(taskId(1))).stage).toBe("queued");
  expect(await engine.state()).toEqual([String(LANE), "checkpoint one"]);
});
