import { expect, test } from "bun:test";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { prepareSpentSince } from "../../../src/store/sqlite/spent-since.ts";

const AT_ONCE = 3;

/** Attempts that ended at these times, each at a cost of 1, at one of two ways in turn. */
function withAttempts(times: readonly (number | null)[]) {
  const connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
  connection.db.run("pragma foreign_keys = off");
  const insert = connection.db.prepare(
    `insert into attempt (id, task_number, sequence, provider, upstream_model, state, started_at, ended_at, cost_micros)
     values (?1, ?4, 1, 'sandbox', ?2, 'done', 1, ?3, 1)`,
  );
  for (const [i, at] of times.entries()) insert.run(`att_${i}`, i % 2 === 0 ? "even" : "odd", at, i);
  return connection;
}

async function spent(times: readonly (number | null)[], since: number): Promise<Record<string, number>> {
  const connection = withAttempts(times);
  const ways = await prepareSpentSince(connection, AT_ONCE)(since);
  await connection.stop();
  return Object.fromEntries(ways.map(({ upstreamModel, cost }) => [upstreamModel, cost]));
}

test("every attempt counts once, wherever the slices end", async () => {
  expect(await spent([5, 5, 5, 5, 5, 5, 5], 5)).toEqual({ even: 4, odd: 3 });
  expect(await spent([1, 2, 3, 4, 5, 6, 7], 1)).toEqual({ even: 4, odd: 3 });
  expect(await spent([1, 2, 3, 3, 3, 4, 4], 2)).toEqual({ even: 3, odd: 3 });
  expect(await spent([1, 2, 3], 1)).toEqual({ even: 2, odd: 1 });
});

test("what ended before, or has not ended, does not count", async () => {
  expect(await spent([1, 4, null, 4], 4)).toEqual({ odd: 2 });
  expect(await spent([1, 1, null], 2)).toEqual({});
});

test("others have their turn between two slices", async () => {
  const connection = withAttempts([1, 2, 3, 4, 5, 6, 7]);
  const events: string[] = [];
  const reading = prepareSpentSince(connection, AT_ONCE)(1).then(() => events.push("read"));
  setImmediate(() => events.push("another's turn"));
  await reading;
  expect(events).toEqual(["another's turn", "read"]);
  await connection.stop();
});
