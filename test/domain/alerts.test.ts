import { expect, test } from "bun:test";
import { ALERT_KINDS, type Condition, noticesFor, type Told } from "../../src/domain/alerts.ts";

const WISH = { kinds: ALERT_KINDS, remindMs: 1_000, errorPercent: 5 };
const DOWN: Condition = { kind: "route_down", subject: "fal", summary: "No tasks go to fal." };

/** What a target is told by one look after the other. */
function looks(wish: typeof WISH, ...steps: (readonly [now: number, ...Condition[]])[]) {
  let told: readonly Told[] = [];
  return steps.map(([now, ...conditions]) => {
    const next = noticesFor(wish, told, conditions, now);
    told = next.told;
    return next.notices.map(({ state, kind, since }) => `${state} ${kind} ${since}`);
  });
}

test("a change of a state is told once, what goes on after a while, and its end once", () => {
  const said = looks(
    WISH,
    [0, DOWN],
    [500, DOWN],
    [999, DOWN],
    [1_000, DOWN],
    [1_500, DOWN],
    [1_600],
    [1_700],
  );
  expect(said).toEqual([
    ["firing route_down 0"],
    [],
    [],
    ["reminder route_down 0"],
    [],
    ["resolved route_down 0"],
    [],
  ]);
});

test("what began before it was found is told with when it began", () => {
  const down = { ...DOWN, since: 100 };
  expect(looks(WISH, [500, down], [600])).toEqual([["firing route_down 100"], ["resolved route_down 100"]]);
});

test("two subjects of one kind are told of apart", () => {
  const other = { ...DOWN, subject: "bfl" };
  expect(looks(WISH, [0, DOWN], [1, DOWN, other], [2, other])).toEqual([
    ["firing route_down 0"],
    ["firing route_down 1"],
    ["resolved route_down 0"],
  ]);
});

test("a target is told of the kinds that it wants, and of figures beyond its own limits", () => {
  const errors = (level: number): Condition => ({ kind: "error_budget", subject: "", summary: "", level });
  expect(looks(WISH, [0, errors(5)], [1, errors(5.1)], [2, errors(2.5)])).toEqual([
    [],
    ["firing error_budget 1"],
    ["resolved error_budget 1"],
  ]);
  // One about the limit is told of once.
  const about = [5.1, 4.9, 5.1, 2.6].map((level, now) => [now, errors(level)] as const);
  expect(looks(WISH, ...about).flat()).toEqual(["firing error_budget 0"]);
  expect(looks({ ...WISH, kinds: ["disk_low"] as never }, [0, DOWN])).toEqual([[]]);
});

test("a clock that was set back makes no reminder late", () => {
  expect(looks(WISH, [10_000, DOWN], [8_000, DOWN])[1]).toEqual(["reminder route_down 10000"]);
});

test("a target hears no end of a kind that it no longer wants", () => {
  const told = noticesFor(WISH, [], [DOWN], 0).told;
  expect(noticesFor({ ...WISH, kinds: ["disk_low"] }, told, [DOWN], 1).notices).toEqual([]);
});
