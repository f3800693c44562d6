import { expect, test } from "bun:test";
import { plot } from "./plot.ts";
import type { ScalingRecord } from "./record.ts";
import { compare, fullest, type Point, renderComparison, renderLog, renderPoints } from "./report.ts";
import type { ServiceTimes } from "./service-times.ts";
import { fit } from "./service-times.ts";
import { type Load, simulate } from "./tasks.ts";

/** Invented. */
const TIMES: ServiceTimes = {
  ...{
    clientUs: 10,
    createNodeUs: 200,
    workNodeUs: 1_000,
    hearUs: 0,
    transactionUs: 100,
    createRowsUs: 50,
    stepRowsUs: 50,
  },
  ...{ createAside: 0, workAside: 0, statementUs: 20, listenUs: 0, flushUs: 500, roundTripUs: 100 },
  ...{ idleNodeUs: 0, idleStatements: 5, idleDatabaseUs: 500 },
};
const FLEET = { apis: 2, workers: 4, concurrency: 64, connections: 10, databaseCores: 8, accounts: 100 };
const offered = (perSecond: number, largestShare = 0): Load => ({
  kind: "offered",
  perSecond,
  largestShare,
  polls: 0,
});
const played = (load: Load, more: Partial<ServiceTimes> = {}, fleet: Partial<typeof FLEET> = {}) =>
  simulate({ times: { ...TIMES, ...more }, fleet: { ...FLEET, ...fleet }, load, seconds: 1.6, seed: 5 });

test("every task that was created has ended or is inside, and below all limits nearly all have ended", () => {
  const { created, ended, inside, endedPerSecond } = played(offered(1_000));
  expect(inside).toBeGreaterThanOrEqual(0);
  expect(Math.abs(created - ended)).toBeLessThanOrEqual(100);
  expect(Math.abs(endedPerSecond / 1_000 - 1)).toBeLessThan(0.08);
  const over = played(offered(6_000));
  expect(over.inside).toBeGreaterThan(over.created - over.ended);
  expect(over.created - over.ended).toBeGreaterThan(1_000);
});

test("the same seed gives the same figures", () => {
  expect(played(offered(800))).toEqual(played(offered(800)));
});

test("workers end no more than their processors make", () => {
  const result = played(offered(6_000));
  expect(result.endedPerSecond).toBeLessThan(4_000 * 1.03);
  expect(result.endedPerSecond).toBeGreaterThan(4_000 * 0.9);
  expect(fullest(result)).toMatchObject({ part: "workers", isFull: true });
  expect(played(offered(6_000), {}, { workers: 2 }).endedPerSecond).toBeLessThan(
    result.endedPerSecond * 0.55,
  );
});

test("one account ends no more than its row lets through, while many do", () => {
  const slow = { flushUs: 20_000, workNodeUs: 100 };
  const one = played(offered(4_000, 1), slow, { connections: 100, accounts: 5_000, concurrency: 256 });
  expect(fullest(one)).toMatchObject({ part: "account", isFull: true });
  expect(
    played(offered(4_000), slow, { connections: 100, accounts: 5_000, concurrency: 256 }).endedPerSecond,
  ).toBeGreaterThan(one.endedPerSecond * 1.3);
});

test("a transaction takes 64 writes at most, and more the longer a row is held", () => {
  const clients = { kind: "clients", clients: 200 } as const;
  const alone = { apis: 1, workers: 0 };
  const slow = played(clients, { flushUs: 100_000, createNodeUs: 10 }, alone);
  expect(slow.perTransaction).toBeLessThanOrEqual(64);
  expect(slow.perTransaction).toBeGreaterThan(50);
  expect(played(clients, { flushUs: 100, createNodeUs: 200 }, alone).perTransaction).toBeLessThan(
    slow.perTransaction,
  );
});

test("notifications cost the database more the more nodes hear them", () => {
  const heard = { listenUs: 50 };
  const few = played(offered(500), heard);
  const many = played(offered(500), heard, { apis: 20, workers: 40 });
  expect(many.used.database).toBeGreaterThan(few.used.database * 3);
  expect(played(offered(500), { hearUs: 1_500 }).used.workers).toBeGreaterThan(few.used.workers * 3);
});

test("polls are work, and a node that waits for nothing asks the database all the same", () => {
  const polled = played({ kind: "offered", perSecond: 500, largestShare: 0, polls: 2 });
  expect(Math.abs(polled.used.workers / played(offered(500)).used.workers - 2)).toBeLessThan(0.3);
  const idle = played(offered(0.001), { idleStatements: 100, idleDatabaseUs: 40_000 });
  // Six nodes, 40 ms of each second, on eight cores.
  expect(Math.abs(idle.used.database / 0.03 - 1)).toBeLessThan(0.25);
});

/** Invented. */
const RECORD: ScalingRecord = {
  ...{
    format: 1,
    takenAt: "2030-01-02T00:00:00.000Z",
    machine: "Invented",
    cores: 2,
    flushUs: 1_000,
    clients: 8,
    clientUs: 10,
  },
  ...{ statementUs: 50, listenUs: 5, idle: { nodeUs: 10_000, databaseUs: 1_000, statements: 5, commits: 0 } },
  create: {
    ...{
      perSecond: 1_000,
      nodeUs: 150,
      hearUs: 0,
      databaseUs: 100,
      statements: 1,
      commits: 0.2,
      walBytes: 1_000,
      heldUs: 2_000,
      p50Ms: 8,
    },
  },
  work: [
    {
      ...{
        perSecond: 400,
        nodeUs: 500,
        hearUs: 30,
        databaseUs: 400,
        statements: 2,
        commits: 0.3,
        walBytes: 9_000,
        heldUs: 3_000,
      },
      ...{ workers: 1, nodes: 2 },
    },
  ],
};

test("service times add up to what was measured", () => {
  const times = fit(RECORD, 60);
  expect(times.transactionUs).toBe(150);
  const { commits, databaseUs } = RECORD.create;
  const spent = commits * times.transactionUs + times.createAside * times.statementUs + times.createRowsUs;
  expect(spent).toBeCloseTo(databaseUs);
});

test("what is printed names every line, its difference and its fullest part, and the plot has a line for each series", () => {
  const compared = renderComparison(compare(RECORD, 1));
  expect(compared.split("\n")).toHaveLength(6);
  expect(compared).toContain("| tasks made by one worker of 2 nodes | 400 1/s |");
  const result = played(offered(500));
  const point = (offered: number): Point => ({ series: "a", nodes: 6, offered, result });
  expect(renderLog(RECORD)).toBe(
    "Written ahead: 10 KB a task, 10 MB/s at 1,000 tasks a second, 100 MB/s at 10,000 tasks a second",
  );
  expect(renderPoints([point(500)])).toMatch(/\| a \| 6 \| 500 \| \d+ \|.*\| [a-z ]+ \d+ % \|/);
  const drawn = plot([point(500), point(1_000), { ...point(1_000), series: "alone" }]);
  expect(drawn.match(/<polyline/g)).toHaveLength(1);
});
