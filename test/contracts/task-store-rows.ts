import { describe, expect, test } from "bun:test";
import type { ClaimQuery } from "../../src/domain/ports/claims.ts";
import { LONGEST_ROW_MS } from "../../src/domain/task/setup.ts";
import type { Lease, NewTask } from "../../src/domain/task/task.ts";
import { passedOn, requeued, snoozed, submitted, unanswered } from "../../src/domain/task/transition.ts";
import {
  accountId,
  addAccount,
  admit,
  attemptId,
  beginOne,
  claimOne,
  claimQuery,
  LANE,
  lane,
  type MakeStore,
  NOW,
  newIntent,
  type StoreUnderTest,
  taskId,
  withStore,
} from "../helpers/store.ts";

const SECOND = lane(`${LANE}/second`);

/** Admits tasks, numbered from `from` on, with these setups; `-` for none. Of account 1, unless told otherwise. */
async function admitAll(
  store: StoreUnderTest,
  setups: string,
  { from = 1, account = 1, ...fields }: { from?: number; account?: number } & Partial<NewTask> = {},
) {
  const all = setups.split("").map((setup, i) => ({
    ...{ number: from + i, accountId: accountId(account), setup: setup === "-" ? undefined : setup },
    ...fields,
  }));
  await Promise.all(all.map((task) => admit(store, task)));
}

const setupOf = ({ task }: Lease) => task.setup ?? "-";

/** The setups of the next tasks, as a lane has them that starts one every `everyMs`. */
async function startOrder(
  store: StoreUnderTest,
  count: number,
  { everyMs = 0, ...query }: { everyMs?: number } & Partial<ClaimQuery> = {},
) {
  const leases: Lease[] = [];
  const leaseMs = 1_000 * LONGEST_ROW_MS;
  for (let i = 0; i < count; i++)
    leases.push(await claimOne(store, { limit: 1, leaseMs, now: NOW + i * everyMs, ...query }));
  return leases;
}

async function started(...given: Parameters<typeof startOrder>): Promise<string> {
  return (await startOrder(...given)).map(setupOf).join("");
}

export function describeRows(make: MakeStore): void {
  describe("tasks of one setup", () => {
    test(
      "start in a row, however they were mixed",
      withStore(make, async (store) => {
        await admitAll(store, "abcabcabcabc");
        expect(await started(store, 12)).toBe("aaaabbbbcccc");
      }),
    );

    test(
      "start in a row within one claim, too",
      withStore(make, async (store) => {
        await admitAll(store, "abcabcabc");
        const { leases } = await store.tasks.claim(claimQuery({ limit: 7 }));
        expect(leases.map(setupOf).join("")).toBe("aaabbbc");
      }),
    );

    test(
      "that come later join the row, and a row without tasks ends at once",
      withStore(make, async (store) => {
        await admitAll(store, "bc");
        expect(await started(store, 1)).toBe("b");
        await admitAll(store, "ab", { from: 3 });
        expect(await started(store, 3)).toBe("bca");
      }),
    );

    test(
      "end their row when it has lasted as long as it may, if others wait",
      withStore(make, async (store) => {
        await admitAll(store, "aaaaab");
        expect(await started(store, 1)).toBe("a");
        expect(await started(store, 1, { now: NOW + LONGEST_ROW_MS - 1 })).toBe("a");
        expect(await started(store, 1, { now: NOW + LONGEST_ROW_MS })).toBe("b");
        expect(await started(store, 3, { now: NOW + LONGEST_ROW_MS })).toBe("aaa");
      }),
    );

    test(
      "begin another row where nothing else waits",
      withStore(make, async (store) => {
        await admitAll(store, "aaa");
        await started(store, 1);
        expect(await started(store, 1, { now: NOW + LONGEST_ROW_MS })).toBe("a");
        await admitAll(store, "b", { from: 4 });
        expect(await started(store, 2, { now: NOW + 2 * LONGEST_ROW_MS - 1 })).toBe("ab");
      }),
    );

    test(
      "end their row when the clock is set back",
      withStore(make, async (store) => {
        await admitAll(store, "aab");
        await started(store, 1);
        expect(await started(store, 1, { now: NOW - 1 })).toBe("b");
      }),
    );

    test(
      "have their turn beside a flood of others, and so have tasks without one",
      withStore(make, async (store) => {
        await admitAll(store, "b".repeat(50));
        await admitAll(store, "acd-a-", { from: 100 });
        const everyMs = LONGEST_ROW_MS / 2;
        expect(await started(store, 12, { everyMs })).toBe("--aabbcdbbbb");
      }),
    );

    test(
      "have their turns however long each of them takes",
      withStore(make, async (store) => {
        await admitAll(store, "aaabbb-cc");
        expect(await started(store, 9, { everyMs: LONGEST_ROW_MS })).toBe("-abcabcab");
      }),
    );
  });

  describe("within a row", () => {
    test(
      "accounts take turns",
      withStore(make, async (store) => {
        await addAccount(store, { id: accountId(2) });
        await admitAll(store, "aaaaaa");
        await admitAll(store, "ababab", { from: 20, account: 2 });
        const leases = await startOrder(store, 12);
        expect(leases.map(setupOf).join("")).toBe("aaaaaaaaabbb");
        expect(leases.slice(0, 6).map(({ task }) => Number(task.accountId.slice(-1)))).toEqual([
          ...[1, 2, 1, 2, 1, 2],
        ]);
      }),
    );

    test(
      "an account has its turn though rows are short and other accounts fill every setup",
      withStore(make, async (store) => {
        for (const number of [2, 3]) await addAccount(store, { id: accountId(number) });
        await admitAll(store, "aaaaaa");
        await admitAll(store, "a", { from: 10, account: 2 });
        await admitAll(store, "bbbbbb", { from: 20, account: 3 });
        const leases = await startOrder(store, 4, { everyMs: LONGEST_ROW_MS });
        expect(leases.map(({ task }) => Number(task.accountId.slice(-1)))).toEqual([1, 3, 2, 3]);
      }),
    );
  });

  describe("the setup of a task", () => {
    test(
      "is kept while it stays in its lane",
      withStore(make, async (store) => {
        await admitAll(store, "a");
        const lease = await claimOne(store);
        await store.tasks.apply(lease, snoozed(lease.task, NOW, { dueAt: NOW + 10, failures: 1 }));
        expect((await claimOne(store, { now: NOW + 10 })).task.setup).toBe("a");
        await store.tasks.rescue(NOW + 10);
        expect((await store.tasks.byId(taskId(1)))?.setup).toBe("a");
      }),
    );

    test.each([
      ["b", "-abbb"],
      ["none", "---ab"],
    ])("becomes that of the route it is sent on to: %s", (setup, order) =>
      withStore(make, async (store) => {
        await admitAll(store, "aa");
        const at = { dueAt: NOW, failures: 0 };
        const to = { lane: SECOND, routeIndex: 1, setup: setup === "none" ? undefined : setup };
        const [first, second] = (await store.tasks.claim(claimQuery())).leases;
        await store.tasks.apply(first!, requeued(NOW, { ...at, ...to }));
        await store.tasks.begin(second!, newIntent());
        await store.tasks.apply(second!, submitted(NOW, attemptId(1), {}, NOW));
        const running = await claimOne(store);
        await store.tasks.apply(running, passedOn(NOW, to, { id: attemptId(1), detail: "out of memory" }));
        await admitAll(store, "ab-", { from: 10, lane: SECOND });
        const lanes = [{ lane: SECOND, capacity: 9 }];
        expect(await started(store, 5, { lanes })).toBe(order);
      })(),
    );
  });

  describe("an account that takes over a sibling's tasks", () => {
    const lanes = [
      { lane: SECOND, capacity: 9, siblings: [LANE] },
      { lane: LANE, capacity: 0, siblings: [SECOND] },
    ];

    test(
      "goes on with its own row there",
      withStore(make, async (store) => {
        await admitAll(store, "b", { lane: SECOND });
        await admitAll(store, "abcabc", { from: 10 });
        expect(await started(store, 7, { lanes })).toBe("bbbccaa");
        await admitAll(store, "ca", { from: 20, lane: SECOND });
        expect(await started(store, 2, { lanes })).toBe("ac");
      }),
    );

    test(
      "takes none with an open attempt, though its setup is next",
      withStore(make, async (store) => {
        await admitAll(store, "a");
        const lease = await beginOne(store);
        const again = { dueAt: NOW, failures: 1 };
        await store.tasks.apply(lease, unanswered(NOW, "queued", again, { id: attemptId(1) }));
        await admitAll(store, "b", { from: 10 });
        const { leases, nextDueAt } = await store.tasks.claim(claimQuery({ lanes }));
        expect(leases.map(setupOf)).toEqual(["b"]);
        expect(nextDueAt).toBe(NOW + 30_000);
      }),
    );
  });
}
