import { expect, test } from "bun:test";
import { MOST_AWAITING_RESULTS } from "../../src/domain/limits.ts";
import { freeCapacity, hasRoom } from "../../src/store/free-capacity.ts";
import { LANE } from "../helpers/store.ts";

test("as many tasks as are allowed wait for their results without a place, and each one more takes one", () => {
  const query = { lanes: [{ lane: LANE, capacity: 1 }], capacity: 1 };
  const after = (awaiting: number) => freeCapacity(query, [{ lane: LANE, count: awaiting, awaiting }]);
  expect(hasRoom(after(MOST_AWAITING_RESULTS), LANE)).toBe(true);
  expect(hasRoom(after(MOST_AWAITING_RESULTS + 1), LANE)).toBe(false);
});
