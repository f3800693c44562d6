import { expect, test } from "bun:test";
import { ProviderError } from "../../src/domain/ports/provider.ts";
import type { Lease } from "../../src/domain/task/task.ts";
import { createRetrievals } from "../../src/scheduler/retrievals.ts";
import { createEngine, fakeClock, scriptedProvider } from "../helpers/engine.ts";
import { LANE, NOW, newTask } from "../helpers/store.ts";

/** A task that tries again to fetch a result at a host. */
const waitsFor = (host: string, given: Partial<Lease["task"]> = {}) =>
  ({
    task: { ...newTask(), stage: "finalizing", failures: 1, deadlineAt: NOW + 60_000, ...given },
    attempt: { lane: LANE, outputs: [{ kind: "remote", ref: { url: `https://${host}/a.png` } }] },
  }) as unknown as Lease;

test("tasks whose results cannot be fetched let others start, and all end once they can be", async () => {
  let isDown = true;
  const provider = scriptedProvider({
    concurrency: 2,
    async fetchOutput() {
      if (isDown) throw new ProviderError("retry", "UPSTREAM_ERROR", "no host");
      return (async function* () {
        yield new TextEncoder().encode("picture");
      })();
    },
  });
  const engine = await createEngine([provider]);
  const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => engine.admit({ number: i + 1 })));
  const ticks = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      await engine.scheduler.tick();
      engine.clock.advance(500);
    }
  };
  await ticks(40);
  expect(provider.submissions).toHaveLength(20);
  isDown = false;
  await ticks(120);
  for (const id of ids) expect(await engine.task(id)).toMatchObject({ status: "completed" });
  expect(provider.submissions).toHaveLength(20);
});

test("a host in trouble is asked by four tasks at once, by more of those past their deadlines, and others meanwhile", () => {
  const retrievals = createRetrievals(fakeClock());
  const begun = (lease: Lease) => retrievals.begin(lease) !== undefined;
  const slow = waitsFor("slow.example");
  expect(Array.from({ length: 6 }, () => begun(slow))).toEqual([true, true, true, true, false, false]);
  expect(begun(waitsFor("other.example"))).toBe(true);
  const late = waitsFor("slow.example", { deadlineAt: NOW });
  expect(Array.from({ length: 20 }, () => begun(late)).filter((isBegun) => isBegun)).toHaveLength(12);
  // In all.
  const rest = Array.from({ length: 40 }, (_, i) => begun(waitsFor(`${i}.example`)));
  expect(rest.filter((isBegun) => isBegun)).toHaveLength(32 - 17);
  expect(retrievals.total()).toBe(32);
});

test("a host that has failed rests, and tasks that are put off come one after the other", () => {
  const clock = fakeClock();
  const retrievals = createRetrievals(clock);
  const lease = waitsFor("slow.example");
  retrievals.begin(lease)?.(false);
  expect(retrievals.begin(lease)).toBeUndefined();
  expect([1, 2, 3].map(() => retrievals.againAt(lease))).toEqual([NOW + 2_000, NOW + 2_100, NOW + 2_200]);
  clock.advance(250);
  const end = retrievals.begin(lease);
  expect(end).toBeDefined();
  // It works again.
  end?.(true);
  expect(retrievals.begin(lease)).toBeDefined();
});
