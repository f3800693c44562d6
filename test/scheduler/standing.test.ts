import { expect, test } from "bun:test";
import type { AccountId, LaneId } from "../../src/domain/ids.ts";
import {
  type RouteOfLane,
  type RouteStore,
  type RouteTrouble,
  WHOLE_ACCOUNT,
} from "../../src/domain/ports/route-store.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { OPENS_AFTER, RouteStandings } from "../../src/scheduler/routing/standing.ts";
import { fakeClock } from "../helpers/engine.ts";
import { accountId, bySystem, taskId } from "../helpers/store.ts";

const FAL = "fal" as LaneId;
const FLUX = { lane: FAL, upstreamModel: "flux" };
const VEO = { lane: FAL, upstreamModel: "veo" };
const GONE = "fal/gone" as LaneId;
const HOUR = 3_600_000;

function setup(rows: RouteTrouble[] = [], canTest = (_: LaneId) => true) {
  const clock = fakeClock();
  const lines: string[] = [];
  const tested: LaneId[] = [];
  const say = (_: unknown, line: string) => void lines.push(line);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const keyOf = ({ lane, upstreamModel }: { lane: LaneId; upstreamModel: string }) =>
    `${lane} ${upstreamModel}`;
  const kept = new Map(rows.map((row) => [keyOf(row), row]));
  const routes: RouteStore = {
    troubles: async () => [...kept.values()],
    changedTroubles: async () => [...kept.values()],
    set: async (row: RouteTrouble) => void kept.set(keyOf(row), row),
    clear: async (row: { lane: LaneId; upstreamModel: string }) => void kept.delete(keyOf(row)),
  };
  const onKeyRefused = (lane: LaneId) => void tested.push(lane);
  const isGone = (lane: LaneId) => lane === GONE;
  const opened: string[] = [];
  const onEnd = (route: RouteOfLane) =>
    void opened.push(`${keyOf(route)}${kept.has(keyOf(route)) ? "?" : ""}`);
  const standing = new RouteStandings({ routes, clock, log, canTest, onKeyRefused, isGone, onEnd });
  const fails = (times: number) => {
    for (let i = 0; i < times; i++) standing.failed(FLUX, "submission", "500");
  };
  return { clock, lines, kept, routes, standing, tested, fails, opened };
}

test("five faults in a row open a route, and no other of its account", () => {
  const { standing, fails } = setup();
  fails(OPENS_AFTER - 1);
  standing.worked(FLUX, "submission");
  fails(OPENS_AFTER - 1);
  expect(standing.of(FLUX).state).toBe("closed");
  fails(1);
  expect([standing.of(FLUX).state, standing.waitMs(FLUX), standing.enter(FLUX)]).toEqual([
    "open",
    30_000,
    30_000,
  ]);
  expect([standing.of(VEO).state, standing.enter(VEO)]).toEqual(["closed", 0]);
});

test("one task that fails again and again opens nothing, and counts once among others", () => {
  const { standing, clock } = setup();
  const fail = (number: number) => standing.failed({ ...FLUX, taskId: taskId(number) }, "submission", "500");
  for (let i = 0; i < 50; i++) fail(1);
  expect(standing.of(FLUX).state).toBe("closed");
  for (const number of [2, 1, 2]) fail(number);
  expect(standing.of(FLUX).state).toBe("closed");
  fail(3);
  expect(standing.of(FLUX).state).toBe("open");
  clock.advance(30_000);
  standing.enter({ ...FLUX, taskId: taskId(3) });
  fail(3);
  expect(standing.waitMs(FLUX)).toBe(60_000);
});

test("an open route lets one task try it, and waits twice as long after each that fails, ten minutes at most", () => {
  const { standing, fails, clock } = setup();
  fails(OPENS_AFTER);
  for (const waitMs of [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
    clock.advance(standing.waitMs(FLUX));
    expect(standing.of(FLUX).state).toBe("half_open");
    expect(standing.enter(FLUX)).toBe(0);
    expect(standing.enter(FLUX)).toBeGreaterThan(0);
    fails(1);
    expect(standing.waitMs(FLUX)).toBe(waitMs);
  }
});

test("a task that is taken closes the route, and faults of those sent before it opened change nothing", () => {
  const { standing, fails, clock, kept, lines } = setup();
  fails(OPENS_AFTER + 20);
  expect(standing.waitMs(FLUX)).toBe(30_000);
  clock.advance(30_000);
  standing.enter(FLUX);
  standing.worked(FLUX, "submission");
  expect([standing.of(FLUX).state, standing.isClear(), kept.size]).toEqual(["closed", true, 0]);
  expect(lines).toEqual([
    "fal flux fails; it gets no tasks until it is tried again",
    "fal flux gets tasks again",
  ]);
});

test("a route that takes tasks and does none of them opens, and only a task that is done closes it", () => {
  const { standing, clock } = setup();
  for (let i = 0; i < OPENS_AFTER; i++) {
    standing.worked(FLUX, "submission");
    standing.worked(FLUX, "poll");
    standing.failed(FLUX, "job", "capacity");
  }
  expect(standing.of(FLUX).state).toBe("open");
  clock.advance(30_000);
  standing.enter(FLUX);
  standing.worked(FLUX, "submission");
  expect(standing.of(FLUX).state).toBe("half_open");
  standing.worked(FLUX, "job");
  expect(standing.of(FLUX).state).toBe("closed");
});

const [ONE, TWO] = [accountId(1), accountId(2)];
const of = (owner: AccountId, number: number) => ({ ...FLUX, accountId: owner, taskId: taskId(number) });

test("faults of one caller's tasks keep only that caller away, whatever it does for others until the rest is over", () => {
  const { standing, clock } = setup();
  for (const number of [1, 2, 3, 4, 5]) standing.failed(of(ONE, number), "submission", "500");
  expect(standing.of(FLUX)).toMatchObject({ state: "open", detail: `500, so far for account ${ONE} alone` });
  expect([standing.enter(of(ONE, 6)), standing.enter(of(TWO, 7)), standing.enter(of(TWO, 8))]).toEqual([
    30_000, 0, 0,
  ]);
  expect([standing.of(FLUX, { accountId: ONE }).state, standing.of(FLUX, { accountId: TWO }).state]).toEqual([
    "open",
    "closed",
  ]);
  standing.worked(of(TWO, 7), "submission");
  expect(standing.enter(of(ONE, 6))).toBe(30_000);
  clock.advance(30_000);
  standing.worked(of(TWO, 8), "submission");
  expect(standing.isClear()).toBe(true);
});

test("faults of a second caller keep all away, but for a task of a third one that tries it at once", () => {
  const { standing, clock, kept } = setup();
  const THREE = accountId(3);
  for (const number of [1, 2, 3, 4, 5]) standing.failed(of(ONE, number), "submission", "500");
  for (const number of [11, 12, 13, 14]) standing.failed(of(TWO, number), "submission", "500");
  expect(standing.waitMs(FLUX, { accountId: TWO })).toBe(0);
  standing.failed(of(TWO, 15), "submission", "500");
  expect(standing.of(FLUX).detail).toBe(`500, so far for accounts ${ONE} and ${TWO} alone`);
  const seen = () => [ONE, TWO, THREE].map((owner) => standing.of(FLUX, { accountId: owner }).state);
  expect(seen()).toEqual(["open", "open", "half_open"]);
  clock.advance(1_000);
  expect([ONE, THREE, THREE].map((owner, i) => standing.enter(of(owner, 20 + i)))).toEqual([
    29_000, 0, 5_000,
  ]);
  standing.failed(of(THREE, 21), "submission", "500");
  expect([THREE, accountId(4)].map((owner) => standing.enter(of(owner, 30)))).toEqual([30_000, 30_000]);
  expect(kept.get("fal flux")).not.toHaveProperty("callers");
});

test("two callers keep nobody else away once a task of another one was done", () => {
  const { standing, clock, kept, lines } = setup();
  const THREE = accountId(3);
  for (const number of [1, 2, 3, 4]) standing.failed(of(ONE, number), "submission", "500");
  standing.failed(of(TWO, 5), "submission", "500");
  standing.enter(of(THREE, 6));
  standing.worked(of(THREE, 6), "submission");
  expect(kept.get("fal flux")).toMatchObject({ callers: [ONE, TWO], servesOthers: true });
  expect([THREE, THREE, ONE, TWO].map((owner, i) => standing.enter(of(owner, 10 + i)))).toEqual([
    ...[0, 0, 30_000, 30_000],
  ]);
  for (const number of [21, 22, 23, 24, 25]) standing.failed(of(THREE, number), "submission", "500");
  expect(standing.enter(of(accountId(4), 30))).toBe(0);
  clock.advance(30_000);
  standing.leave(of(accountId(4), 30));
  standing.worked(of(TWO, 13), "submission");
  expect([standing.isClear(), lines.length]).toEqual([true, 4]);
});

test("faults of three callers in a row are everybody's", () => {
  const { standing } = setup();
  for (const number of [1, 2, 3, 1, 2]) standing.failed(of(accountId(number), number), "submission", "500");
  expect([standing.of(FLUX).state, standing.enter(of(accountId(4), 6))]).toEqual(["open", 30_000]);
});

test("the next process knows whose tasks a route fails", async () => {
  const first = setup();
  for (const number of [1, 2, 3, 4, 5]) first.standing.failed(of(ONE, number), "submission", "500");
  const second = setup([...first.kept.values()]);
  await second.standing.start();
  expect([ONE, TWO].map((owner) => second.standing.enter(of(owner, 6)))).toEqual([30_000, 0]);
});

test("an open route is tried later by what may be the cause: the caller that failed last, its task, a task that failed there", () => {
  const { standing, clock } = setup();
  for (const number of [1, 2, 3, 4]) standing.failed(of(ONE, number), "submission", "500");
  standing.failed(of(TWO, 5), "submission", "500");
  const waits = () =>
    [
      { taskId: taskId(9), accountId: ONE },
      { taskId: taskId(1), accountId: ONE, hasTried: true },
      { taskId: taskId(8), accountId: TWO },
      { taskId: taskId(5), accountId: TWO, hasTried: true },
    ].map((sender) => standing.waitMs(FLUX, sender));
  expect(waits()).toEqual([30_000, 32_000, 32_000, 36_000]);
  clock.advance(33_000);
  expect(waits()).toEqual([0, 0, 0, 3_000]);
});

test("a task that did not enter says nothing new about a route that is tried", () => {
  const { standing, clock } = setup();
  for (const number of [1, 2, 3, 4, 5])
    standing.failed({ ...FLUX, taskId: taskId(number) }, "submission", "500");
  clock.advance(30_000);
  standing.failed(of(ONE, 1), "submission", "500");
  expect(standing.enter(of(TWO, 9))).toBe(0);
  standing.failed(of(ONE, 1), "submission", "500");
  standing.leave(of(ONE, 1));
  expect(standing.waitMs(FLUX)).toBe(120_000);
  standing.failed(of(TWO, 9), "submission", "500");
  expect(standing.waitMs(FLUX)).toBe(60_000);
});

test("a refused key takes the whole account out until it is allowed again", () => {
  const { standing, clock, lines, tested } = setup();
  for (const _ of [1, 2, 3]) standing.refused(FLUX, "submission", { kind: "key", detail: "401" });
  clock.advance(100 * HOUR);
  expect([standing.of(VEO).state, standing.enter(VEO)]).toEqual(["refused", Number.POSITIVE_INFINITY]);
  expect(tested).toEqual([FAL]);
  standing.allow({ lane: FAL, upstreamModel: WHOLE_ACCOUNT });
  expect([standing.of(VEO).state, standing.enter(VEO)]).toEqual(["closed", 0]);
  expect(lines).toHaveLength(2);
});

test("a refusal keeps only the caller away whose task met it, until another one's does or the key's test says so", async () => {
  const { standing, lines } = setup();
  const seen = (owner: AccountId) => standing.of(VEO, { accountId: owner }).state;
  standing.refused(of(ONE, 1), "submission", { kind: "key", detail: "403" });
  expect([seen(ONE), seen(TWO), standing.enter(of(TWO, 2))]).toEqual(["refused", "closed", 0]);
  standing.refused(of(TWO, 2), "submission", { kind: "key", detail: "403" });
  expect([seen(ONE), seen(TWO)]).toEqual(["refused", "refused"]);
  await standing.proved(FAL);
  standing.refused(of(ONE, 3), "submission", { kind: "key", detail: "403" });
  standing.confirmed(FAL, "401");
  expect(standing.of(VEO, { accountId: TWO })).toMatchObject({ state: "refused", detail: "401" });
  expect(lines).toHaveLength(3);
  const bfl = "bfl" as LaneId;
  for (const [owner, state] of [
    [ONE, "closed"],
    [TWO, "half_open"],
    [accountId(3), "spent"],
  ] as const) {
    standing.refused({ ...of(owner, 4), lane: bfl }, "submission", { kind: "spent", detail: "402" });
    expect(standing.of({ lane: bfl, upstreamModel: "x" }, { accountId: accountId(4) }).state).toBe(state);
  }
});

test("a refused key that no call can prove is tried with one task", () => {
  const { standing, clock, tested } = setup([], () => false);
  standing.refused(FLUX, "submission", { kind: "key", detail: "401" });
  expect([standing.waitMs(VEO), tested]).toEqual([30_000, []]);
  clock.advance(30_000);
  expect(standing.enter(VEO)).toBe(0);
});

test("a refused model leaves the others of the account alone, and is tried again", () => {
  const { standing, clock } = setup();
  standing.refused(FLUX, "submission", { kind: "route", detail: "404" });
  expect([standing.of(FLUX).state, standing.of(VEO).state]).toEqual(["refused", "closed"]);
  clock.advance(30_000);
  expect(standing.enter(FLUX)).toBe(0);
  standing.refused(FLUX, "submission", { kind: "route", detail: "404" });
  expect(standing.waitMs(FLUX)).toBe(60_000);
});

test("a spent account is out until the time that it names, or for an hour", () => {
  const { standing, clock } = setup();
  standing.refused(FLUX, "submission", { kind: "spent", detail: "402" });
  expect(standing.waitMs(VEO)).toBe(HOUR);
  clock.advance(HOUR);
  expect(standing.enter(VEO)).toBe(0);
  standing.refused(VEO, "submission", { kind: "spent", detail: "402", retryAfterMs: 60_000 });
  expect(standing.waitMs(FLUX)).toBe(60_000);
});

test("what an operator blocks stays so, whatever its tasks come to", () => {
  const { standing, clock } = setup();
  standing.block(FLUX, "maintenance");
  standing.worked(FLUX, "submission");
  standing.failed(FLUX, "submission", "500");
  standing.refused(FLUX, "submission", { kind: "route", detail: "404" });
  clock.advance(100 * HOUR);
  expect(standing.of(FLUX)).toMatchObject({ state: "blocked", detail: "maintenance" });
  standing.allow(FLUX);
  expect(standing.enter(FLUX)).toBe(0);
});

test("a task that is not sent gives its turn back", () => {
  const { standing, fails, clock } = setup();
  fails(OPENS_AFTER);
  clock.advance(30_000);
  expect([standing.enter(FLUX), standing.waitMs(FLUX)]).toEqual([0, 120_000]);
  standing.leave(FLUX);
  expect(standing.enter(FLUX)).toBe(0);
});

test("the next process knows what is open, also where its clock was set back", async () => {
  const first = setup();
  first.fails(OPENS_AFTER);
  first.standing.refused(VEO, "submission", { kind: "route", detail: "404" });
  first.standing.block({ lane: "bfl" as LaneId, upstreamModel: WHOLE_ACCOUNT }, "by hand");
  const rows = [...first.kept.values()];
  const second = setup(rows);
  await second.standing.start();
  second.clock.advance(10_000);
  expect(second.standing.waitMs(FLUX)).toBe(20_000);
  expect(second.standing.of(VEO)).toMatchObject({ state: "refused", detail: "404" });
  expect(second.standing.of({ lane: "bfl" as LaneId, upstreamModel: "any" }).state).toBe("blocked");
  const late = setup(
    rows.map((row) => (row.until === undefined ? row : { ...row, until: row.until + 100 * HOUR })),
  );
  await late.standing.start();
  expect(late.standing.waitMs(FLUX)).toBe(30_000);
});

const OPERATOR = bySystem();
const BLOCKED: RouteTrouble = { ...FLUX, kind: "blocked", detail: "by hand", since: 1, times: 1 };

test("what another process blocks counts from the next look, and no longer when it allows it", async () => {
  const { standing, kept, lines, opened } = setup();
  kept.set("fal flux", BLOCKED);
  await standing.look();
  await standing.look();
  expect(standing.of(FLUX)).toMatchObject({ state: "blocked", detail: "by hand" });
  kept.clear();
  expect(opened).toEqual([]);
  await standing.look();
  expect([standing.of(FLUX).state, opened]).toEqual(["closed", ["fal flux"]]);
  expect(lines).toEqual(["fal flux is blocked; its tasks go elsewhere or wait", "fal flux gets tasks again"]);
});

test("that a route opens is told once it is stored", async () => {
  const { standing, opened, fails, clock, kept } = setup();
  await standing.block(VEO, "by hand");
  await standing.allow(VEO);
  fails(OPENS_AFTER);
  clock.advance(30_000);
  standing.enter(FLUX);
  standing.worked(FLUX, "submission");
  expect(opened).toEqual(["fal veo"]);
  await Bun.sleep(0);
  expect([opened, [...kept]]).toEqual([["fal veo", "fal flux"], []]);
});

test("what another process clears is forgotten, whatever was known", async () => {
  const { standing, kept } = setup([{ ...BLOCKED, kind: "refused" }]);
  await standing.start();
  kept.clear();
  await standing.look();
  expect(standing.of(FLUX).state).toBe("closed");
});

test("a look forgets nothing that is not stored yet", async () => {
  const { standing, routes, fails } = setup();
  const stored = Promise.withResolvers<void>();
  routes.set = () => stored.promise;
  fails(OPENS_AFTER);
  await standing.look();
  expect(standing.of(FLUX).state).toBe("open");
  const rows = Promise.withResolvers<RouteTrouble[]>();
  routes.changedTroubles = () => rows.promise;
  stored.resolve();
  await stored.promise;
  const looking = standing.look();
  standing.refused(VEO, "submission", { kind: "route", detail: "404" });
  rows.resolve([BLOCKED]);
  await looking;
  expect([standing.of(FLUX).state, standing.of(VEO).state]).toEqual(["blocked", "refused"]);
});

test("what another process blocked while a change here was being stored counts from the look after", async () => {
  const { standing, kept, routes, fails } = setup();
  let isChanged = true;
  routes.changedTroubles = async () => {
    if (!isChanged) return undefined;
    isChanged = false;
    return [...kept.values()];
  };
  const stored = Promise.withResolvers<void>();
  routes.set = () => stored.promise;
  kept.set("fal flux", BLOCKED);
  fails(OPENS_AFTER);
  await standing.look();
  stored.resolve();
  await stored.promise;
  await standing.look();
  expect(standing.of(FLUX).state).toBe("blocked");
});

test("what could not be stored is stored by a later look", async () => {
  const { standing, kept, routes, fails, lines } = setup();
  const { set, clear } = routes;
  const full = () => Promise.reject(new Error("full"));
  Object.assign(routes, { set: full, clear: full });
  fails(OPENS_AFTER);
  await Bun.sleep(0);
  await standing.look();
  expect([standing.of(FLUX).state, kept.size]).toEqual(["open", 0]);
  Object.assign(routes, { set });
  await standing.look();
  expect(kept.get("fal flux")?.kind).toBe("open");
  standing.worked(FLUX, "submission");
  await Bun.sleep(0);
  await standing.look();
  expect([standing.of(FLUX).state, kept.size]).toEqual(["closed", 1]);
  Object.assign(routes, { clear });
  await standing.look();
  expect(kept.size).toBe(0);
  expect(lines.filter((line) => line.includes("could not be stored"))).toHaveLength(2);
});

test("an operator's act that could not be stored counts no longer, and what others decide counts", async () => {
  const { standing, kept, routes } = setup();
  const full = () => Promise.reject(new Error("full"));
  const stateNow = async () => {
    await standing.look();
    return standing.of(FLUX).state;
  };
  Object.assign(routes, { set: full, clear: full });
  await expect(standing.block(FLUX, "by hand", OPERATOR)).rejects.toThrow("full");
  expect(await stateNow()).toBe("closed");
  kept.set("fal flux", BLOCKED);
  expect(await stateNow()).toBe("blocked");
  await expect(standing.allow(FLUX, OPERATOR)).rejects.toThrow("full");
  expect(await stateNow()).toBe("blocked");
  kept.set("fal flux", { ...BLOCKED, kind: "open" });
  expect(await stateNow()).toBe("closed");
});

test("a block resolves when it is stored, and counts at once", async () => {
  const { standing, routes } = setup();
  const stored = Promise.withResolvers<void>();
  routes.set = () => stored.promise;
  const blocking = standing.block(FLUX, "by hand");
  expect(standing.of(FLUX).state).toBe("blocked");
  stored.reject(new Error("disk full"));
  await expect(blocking).rejects.toThrow("disk full");
});

test("nothing is kept against an account that is gone", async () => {
  const { standing, kept } = setup([
    { ...BLOCKED, lane: GONE },
    { ...BLOCKED, lane: GONE, upstreamModel: WHOLE_ACCOUNT, kind: "refused" },
    BLOCKED,
  ]);
  expect(await standing.start()).toEqual([]);
  expect([standing.of({ lane: GONE, upstreamModel: "flux" }).state, [...kept.keys()]]).toEqual([
    "closed",
    ["fal flux"],
  ]);
});

test("a key that is proved ends what was refused, and nothing that an operator blocked", async () => {
  const { standing } = setup();
  standing.refused(FLUX, "submission", { kind: "key", detail: "401" });
  await standing.block(VEO, "by hand");
  await standing.proved(FAL);
  expect([standing.of(FLUX).state, standing.of(VEO).state]).toEqual(["closed", "blocked"]);
  await standing.block({ lane: FAL, upstreamModel: WHOLE_ACCOUNT }, "by hand");
  await standing.proved(FAL);
  expect(standing.of(FLUX).state).toBe("blocked");
});
