import { afterAll, describe, expect, test } from "bun:test";
import { openAnotherPostgres, stopPostgres, withNodes } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, addAccount, admit, beginOne, NOW, taskId } from "../../helpers/store.ts";

const HOUR_MS = 3_600_000;
const LONGEST = { taskMs: 600_000, callbackMs: HOUR_MS };

describe.skipIf(!CAN_TEST_POSTGRES)("times of two nodes on one PostgreSQL", () => {
  afterAll(stopPostgres);

  test(
    "a step of the clock that both nodes follow moves what waits once, and another step moves it again",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await admit(one);
      await one.time.beat(NOW);
      const moved = await Promise.all([one.time.move(HOUR_MS), other.time.move(HOUR_MS + 12)]);
      expect(moved.map(({ tasks }) => tasks).sort()).toEqual([0, 1]);
      expect(await one.time.move(-HOUR_MS)).toEqual({ tasks: 1, callbacks: 0 });
      expect(await other.time.move(-HOUR_MS)).toEqual({ tasks: 0, callbacks: 0 });
      // All of it is within what two nodes measure.
      expect(Math.abs(((await other.time.lastBeat()) ?? 0) - NOW)).toBeLessThan(13);
      expect(await other.time.hurry(NOW - 2 * LONGEST.taskMs, LONGEST)).toEqual({ tasks: 1, callbacks: 0 });
    }),
  );

  test(
    "time that one node lost while another one worked moves no deadline",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await admit(one);
      await beginOne(one);
      await one.time.beat(NOW + 1_000);
      // The first stands still for a minute, and the second goes on.
      for (const second of [5, 10, 55, 60]) await other.time.beat(NOW + second * 1_000);
      expect(await one.time.beat(NOW + 61_000, NOW + 1_000)).toBe(0);
      expect(await one.time.deadlineOf(taskId(1))).toBe(NOW + 600_000);
      // The second is gone as well while the first stands still again: nobody works from its last beat on.
      await other.time.beat(NOW + 65_000);
      expect(await one.time.beat(NOW + 90_000, NOW + 61_000)).toBe(1);
      expect(await one.time.deadlineOf(taskId(1))).toBe(NOW + 600_000 + 25_000);
    }),
  );

  test(
    "a node that starts while another one works moves no deadline, and one that starts after all were gone does",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await admit(one);
      await beginOne(one);
      await one.time.beat(NOW + 5_000);
      const started = NOW + 9_000;
      expect(await other.time.beat(started, (await other.time.lastBeat()) ?? 0)).toBe(0);
      await using third = Object.assign(await openAnotherPostgres(), {
        async [Symbol.asyncDispose]() {
          await third.stop();
        },
      });
      expect(await third.time.beat(started + 60_000, (await third.time.lastBeat()) ?? 0)).toBe(1);
      expect(await one.time.deadlineOf(taskId(1))).toBe(NOW + 600_000 + 60_000);
    }),
  );

  test(
    "time in which the whole service was lost moves a deadline once, whichever node finds out first",
    withNodes(async (one, other) => {
      await addAccount(one, { id: ACCOUNT });
      await admit(one);
      await beginOne(one);
      const at = NOW + 60_000;
      const moved = await Promise.all([
        one.time.beat(at, NOW + 10_000),
        other.time.beat(at + 5, NOW + 10_000),
      ]);
      expect(moved[0] + moved[1]).toBeGreaterThan(0);
      const late = (await one.time.deadlineOf(taskId(1))) ?? 0;
      // What begins when its task does moves by the rest that the second node alone has lost, five milliseconds at most.
      expect([50_000, 50_005]).toContain(late - (NOW + 600_000));
    }),
  );
});
