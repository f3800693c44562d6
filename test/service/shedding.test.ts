import { describe, expect, test } from "bun:test";
import type { AccountId, ModelId } from "../../src/domain/ids.ts";
import type { ShedClass } from "../../src/domain/shedding.ts";
import { createQueueShedding } from "../../src/service/queue-shedding.ts";
import { createShedding } from "../../src/service/shedding.ts";
import { fakeClock } from "../helpers/engine.ts";
import { ACCOUNT, accountId, LANE } from "../helpers/store.ts";

const MIB = 1024 * 1024;

/** What a log and a tally were told. */
function listeners() {
  const told: (readonly [object, string])[] = [];
  const shed: string[] = [];
  const write = (fields: object, message: string) => void told.push([fields, message]);
  return {
    told,
    shed,
    log: { info: write, warn: write },
    tally: { shed: (kind: string) => void shed.push(kind) },
  };
}

describe("a pressed process", () => {
  function setup(held = { bytes: 100 * MIB }) {
    const clock = fakeClock();
    const { log, tally, told, shed } = listeners();
    const most = { lagMs: 100, heldBytes: 1000 * MIB };
    const shedding = createShedding({ clock, log, tally, heldBytes: () => held.bytes, most });
    return {
      ...{ shedding, told, shed, held },
      /** Looks ten times a second, at the same lag each time. */
      pass(seconds: number, lagMs: number): void {
        for (let i = 0; i < seconds * 10; i++) {
          clock.advance(100);
          shedding.observe(lagMs);
        }
      },
      /** How many of a hundred requests of a class go on. */
      goOn: (kind: ShedClass) =>
        Array.from({ length: 100 }, () => shedding.refusal(kind)).filter((error) => error === undefined)
          .length,
    };
  }

  test("refuses nothing for a lag that lasts less than a second, however long it is", () => {
    const { shedding, pass, goOn, told } = setup();
    for (let burst = 0; burst < 10; burst++) {
      pass(0.9, 5_000);
      pass(0.1, 0);
    }
    expect([shedding.active(), goOn("creates"), told]).toEqual([[], 100, []]);
  });

  test("refuses a growing share of creates, then lists, then reads, and tells each once", () => {
    const { pass, goOn, told } = setup();
    pass(2, 150);
    const some = goOn("creates");
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(100);
    expect([goOn("lists"), goOn("reads")]).toEqual([100, 100]);
    pass(60, 150);
    expect([goOn("creates"), goOn("lists"), goOn("reads")]).toEqual([0, 0, 0]);
    expect(told.map(([{ shedding }]: readonly [{ shedding?: unknown }, string]) => shedding)).toEqual([
      ["creates"],
      ["creates", "lists"],
      ["creates", "lists", "reads"],
    ]);
  });

  test("refuses nothing five seconds after the lag has gone, and tells how long it was and how many it refused", () => {
    const { shedding, pass, goOn, told, shed } = setup();
    pass(60, 1_000);
    goOn("creates");
    pass(5, 0);
    expect([shedding.active(), goOn("creates")]).toEqual([[], 100]);
    expect(told.at(-1)?.[1]).toBe("no longer overloaded");
    expect(told.at(-1)?.[0]).toMatchObject({ refused: 100 });
    expect(shed).toEqual(Array(100).fill("creates"));
  });

  test("refuses creates while it has more memory than it may, from one look to the next", () => {
    const { pass, goOn, held } = setup();
    pass(1, 0);
    held.bytes = 1001 * MIB;
    pass(1, 0);
    expect([goOn("creates"), goOn("reads")]).toEqual([0, 100]);
    held.bytes = 999 * MIB;
    pass(2, 0);
    expect(goOn("creates")).toBe(100);
  });

  test("says when to come again, and that a client may do so by itself", () => {
    const { shedding, pass } = setup({ bytes: 2000 * MIB });
    pass(4, 0);
    const refusal = shedding.refusal("reads");
    expect(refusal).toMatchObject({
      code: "service_unavailable",
      details: { retryAfterSec: 4, shouldRetry: true },
    });
    expect(refusal?.message).toBe(
      "The service has more to do than it can at this moment. Send the request again in 4 s.",
    );
  });
});

describe("a long queue", () => {
  const OTHER = accountId(2);
  const model = { id: "sandbox-image" as ModelId, deadlineMs: 60_000 };

  function setup(given: { readonly mostWaitMs?: number } = {}) {
    const clock = fakeClock();
    const { log, tally, told, shed } = listeners();
    const lane = { queued: 0, own: 0, begun: 0, asked: 0 };
    const oldest = new Map<AccountId, number>();
    const queues = createQueueShedding({
      ...{ clock, log, tally, mostWaitMs: () => given.mostWaitMs },
      tasks: {
        ownReady: async (_, account) => {
          lane.asked += 1;
          return { count: lane.own, oldestAt: oldest.get(account) };
        },
      },
      loads: {
        queued: () => lane.queued,
        begun: () => lane.begun,
      },
      capacityOf: () => 2,
    });
    // The service has worked for an hour.
    clock.advance(3_600_000);
    /** How a create ends: undefined when it goes on. */
    const create = async (account = ACCOUNT): Promise<{ code?: string; details?: object } | undefined> => {
      try {
        await queues.check({ lane: LANE, accountId: account, model });
        return undefined;
      } catch (error) {
        return error as object;
      }
    };
    return { clock, told, shed, lane, oldest, queues, create };
  }

  test("asks nobody while no more tasks wait than can run at one time", async () => {
    const { lane, oldest, clock, create } = setup();
    lane.queued = 2;
    oldest.set(ACCOUNT, clock.now() - 1e9);
    expect([await create(), lane.asked]).toEqual([undefined, 0]);
  });

  test("refuses an account whose oldest task has waited longer than the model's deadline, and no other one", async () => {
    const { lane, oldest, clock, create, shed } = setup();
    lane.queued = 10;
    oldest.set(ACCOUNT, clock.now() - model.deadlineMs);
    oldest.set(OTHER, clock.now());
    expect(await create()).toBeUndefined();
    clock.advance(1_001);
    expect(await create()).toMatchObject({ code: "service_unavailable" });
    expect(await create(OTHER)).toBeUndefined();
    expect(shed).toEqual(["queues"]);
  });

  test("counts no time in which the service could not work", async () => {
    const { lane, oldest, clock, queues, create } = setup();
    lane.queued = 10;
    oldest.set(ACCOUNT, clock.now() - 86_400_000);
    expect(await create()).toMatchObject({ code: "service_unavailable" });
    queues.interrupted();
    expect(await create()).toBeUndefined();
    clock.advance(model.deadlineMs);
    expect(await create()).toBeUndefined();
    clock.advance(1);
    expect(await create()).toMatchObject({ code: "service_unavailable" });
  });

  test("measures the wait by the setting where there is one, and says what it is", async () => {
    const { lane, oldest, clock, create } = setup({ mostWaitMs: 5_000 });
    lane.queued = 10;
    oldest.set(ACCOUNT, clock.now() - 5_001);
    const refusal = await create();
    expect(String(refusal)).toBe(
      "AppError: One more task of this account for sandbox-image would wait longer than 5 s for its start. Send the request again in 30 s.",
    );
  });

  test("takes Retry-After from how fast tasks begin", async () => {
    const { lane, oldest, clock, create } = setup({ mostWaitMs: 10_000 });
    lane.queued = 105;
    oldest.set(ACCOUNT, clock.now() - 1_000);
    expect(await create()).toBeUndefined();
    clock.advance(2_000);
    Object.assign(lane, { begun: 10, own: 105 });
    expect(await create()).toMatchObject({ details: { retryAfterSec: 11, shouldRetry: true } });
  });

  test("asks the store four times a second for each account, and counts what goes on in between", async () => {
    const { lane, clock, create } = setup({ mostWaitMs: 10_000 });
    lane.queued = 10;
    await create();
    clock.advance(1_000);
    Object.assign(lane, { begun: 1, own: 5, asked: 0 });
    const ends: unknown[] = [];
    for (let i = 0; i < 8; i++) ends.push(await create());
    expect([lane.asked, ends.filter((end) => end === undefined).length]).toEqual([1, 6]);
    clock.advance(250);
    await create();
    expect(lane.asked).toBe(2);
  });

  test("is not foreseen where no setting says how long a task may wait", async () => {
    const { lane, clock, create } = setup();
    lane.queued = 10;
    await create();
    clock.advance(1_000);
    Object.assign(lane, { begun: 1, own: 5_000 });
    expect(await create()).toBeUndefined();
  });

  test("is told once, and again when nothing was refused for five seconds", async () => {
    const { lane, oldest, clock, create, told, queues } = setup({ mostWaitMs: 1_000 });
    lane.queued = 10;
    oldest.set(ACCOUNT, clock.now() - 2_000);
    for (let i = 0; i < 3; i++) await create();
    clock.advance(4_000);
    await create();
    clock.advance(4_000);
    expect(queues.lanes()).toEqual([LANE]);
    clock.advance(1_000);
    expect(queues.lanes()).toEqual([]);
    expect(told).toEqual([
      [{ provider: LANE, queued: 0, waited_s: 2 }, "the queue is too long: creates are refused"],
      [{ provider: LANE, refused: 4 }, "the queue is no longer too long"],
    ]);
  });
});
