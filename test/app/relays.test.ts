import { expect, test } from "bun:test";
import { createRelays } from "../../src/app/relays.ts";
import type { ModelId } from "../../src/domain/ids.ts";
import type { ProviderAdapter } from "../../src/domain/ports/provider.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { fakeClock, scriptedProvider } from "../helpers/engine.ts";
import { lane } from "../helpers/store.ts";

function setup(accounts: Readonly<Record<string, () => Promise<readonly string[]>>>) {
  const told: string[] = [];
  const tell = (_: unknown, message: string) => void told.push(message);
  const log: Log = { debug() {}, info() {}, warn: tell, error: tell };
  const adapters: ProviderAdapter[] = [
    scriptedProvider({ id: lane("without") }),
    ...Object.entries(accounts).map(([name, models]) => ({
      ...scriptedProvider({ id: lane("other"), models }),
      lane: lane(name),
    })),
  ];
  const clock = fakeClock();
  const relays = createRelays({ adapters: () => adapters, clock, log });
  let changes = 0;
  relays.onChange(() => {
    changes += 1;
  });
  const makes = (id: string) =>
    relays.relays().flatMap((each) => (each.makes(id as ModelId) ? each.provider : []));
  return { ...relays, clock, makes, told, changes: () => changes };
}

test("a provider makes every model until it has said which, and then those alone", async () => {
  const { makes, tick, changes } = setup({ other: async () => ["one"] });
  expect([makes("one"), makes("two")]).toEqual([["other"], ["other"]] as never);
  await tick();
  expect([makes("one"), makes("two"), changes()]).toEqual([["other"], [], 1] as never);
  await tick();
  expect(changes()).toBe(1);
});

test("a model is made where any account makes it", async () => {
  const { makes, tick } = setup({ other: async () => ["one"], "other/second": async () => ["two"] });
  await tick();
  expect([makes("one"), makes("two"), makes("three")]).toEqual([["other"], ["other"], []] as never);
});

test("what a provider said counts while it says nothing", async () => {
  let isDown = false;
  const { makes, tick, told, changes } = setup({
    async other() {
      if (isDown) throw new Error("connection refused");
      return ["one"];
    },
  });
  await tick();
  isDown = true;
  await tick();
  expect([makes("one"), makes("two"), changes()]).toEqual([["other"], [], 1] as never);
  expect(told).toHaveLength(1);
});

test("providers are asked again after a minute, until the end", async () => {
  const asked: number[] = [];
  let answered = Promise.withResolvers<void>();
  const relays = setup({
    async other() {
      asked.push(relays.clock.elapsed());
      setImmediate(() => setImmediate(answered.resolve));
      return [];
    },
  });
  relays.start();
  await answered.promise;
  answered = Promise.withResolvers();
  relays.clock.advance(60_000);
  await answered.promise;
  relays.stop();
  relays.clock.advance(60_000);
  expect(asked).toEqual([0, 60_000]);
});
