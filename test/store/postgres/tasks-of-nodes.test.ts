import { afterAll, describe, expect, test } from "bun:test";
import { taskError } from "../../../src/domain/errors.ts";
import type { LeaseToken, TaskId } from "../../../src/domain/ids.ts";
import { LONGEST_ROW_MS } from "../../../src/domain/task/setup.ts";
import type { Lease } from "../../../src/domain/task/task.ts";
import { failed, submitted, succeeded } from "../../../src/domain/task/transition.ts";
import { openAudit } from "../../../src/store/postgres/audit.ts";
import {
  askPostgres,
  onBoth,
  openAnotherPostgres,
  type PostgresStore,
  stopPostgres,
  urlOfPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import {
  accountId,
  attemptId,
  bySystem,
  callbackId,
  claimQuery,
  keyId,
  LANE,
  lane,
  micros,
  NOW,
  newClaim,
  newIntent,
  newKey,
  newTask,
  taskId,
} from "../../helpers/store.ts";

const OWNER = accountId(1);
const PRICE = 40_000;

async function addOwner({ accounts }: PostgresStore, credit?: number, id = OWNER): Promise<void> {
  const mode = credit === undefined ? "unlimited" : "prepaid";
  const account = { id, name: id, mode, credit: micros(credit ?? 0), createdAt: NOW } as const;
  expect(await accounts.createAccount(account, bySystem())).toBe("created");
}

const kindsOf = (results: readonly { kind: string }[]) =>
  Object.fromEntries([...Map.groupBy(results, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]));

async function expectCleanBooks(): Promise<void> {
  const audit = await openAudit({ url: await urlOfPostgres() });
  try {
    expect((await audit.run()).differences).toEqual([]);
  } finally {
    audit.stop();
  }
}

/** Tokens that begin with the id of a node, as a node that serves makes them. */
const tokensOf = (node: string) => {
  let count = 0;
  return { leaseToken: () => `${node}.${++count}` as LeaseToken };
};

describe.skipIf(!CAN_TEST_POSTGRES)("creates on two nodes at once", () => {
  afterAll(stopPostgres);

  test(
    "of one idempotency key are one task, and of another body a conflict",
    withNodes(async (one, other) => {
      await addOwner(one);
      const results = await onBoth([one, other], 100, ({ tasks }, i) => {
        const fingerprint = (i % 10 === 9 ? "e" : "f").repeat(64);
        const idempotency = newClaim({ fingerprint, expiresAt: NOW + 1000 });
        return tasks.admit({ task: newTask({ number: i }), assets: [], idempotency });
      });
      expect(kindsOf(results).admitted).toBe(1);
      const [admitted] = await askPostgres("select count(*)::int as tasks from task");
      expect(admitted).toEqual({ tasks: 1 });
      expect(await one.accounts.account(OWNER)).toMatchObject({ held: PRICE });
      await expectCleanBooks();
    }),
  );

  test(
    "never hold more than the balance, nor more tasks of a key than it may have",
    withNodes(async (one, other) => {
      await addOwner(one, 25 * PRICE);
      const results = await onBoth([one, other], 80, ({ tasks }, i) =>
        tasks.admit({ task: newTask({ number: i }), assets: [] }),
      );
      expect(kindsOf(results)).toEqual({ admitted: 25, insufficient_quota: 55 });
      await addOwner(one, undefined, accountId(2));
      for (let round = 1; round <= 8; round++) {
        const ofKey = { accountId: accountId(2), keyId: keyId(round) };
        const limited = await onBoth([one, other], 40, ({ tasks }, i) =>
          tasks.admit({ task: newTask({ ...ofKey, number: round * 100 + i }), assets: [], concurrency: 7 }),
        );
        expect(kindsOf(limited)).toEqual({ admitted: 7, too_many_tasks: 33 });
      }
      await expectCleanBooks();
    }),
  );

  test(
    "keep to a key's quota, also when its period begins",
    withNodes(async (one, other) => {
      await addOwner(one);
      const quota = { limit: micros(10 * PRICE), reset: "total" } as const;
      await one.accounts.createKey(newKey({ policy: { ...newKey().policy, quota } }), undefined, bySystem());
      const results = await onBoth([one, other], 60, ({ tasks }, i) =>
        tasks.admit({ task: newTask({ number: i }), assets: [], quota: { limit: quota.limit, period: 0 } }),
      );
      expect(kindsOf(results)).toEqual({ admitted: 10, insufficient_quota: 50 });
      expect(await other.accounts.keyQuota(keyId(1), 0)).toEqual({
        used: micros(0),
        reserved: micros(10 * PRICE),
      });
      await expectCleanBooks();
    }),
  );
});

describe.skipIf(!CAN_TEST_POSTGRES)("claims on two nodes at once", () => {
  afterAll(stopPostgres);

  async function admitMany(
    { tasks }: PostgresStore,
    count: number,
    fields: Parameters<typeof newTask>[0] = {},
  ) {
    const { number = 0 } = fields;
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        tasks.admit({ task: newTask({ ...fields, number: number + i }), assets: [] }),
      ),
    );
  }

  test(
    "share no task, and start no more than a lane and all lanes may have",
    withNodes(async (one, other) => {
      await addOwner(one);
      await admitMany(one, 60);
      await admitMany(other, 60, { number: 100, lane: lane("b") });
      const lanes = [
        { lane: LANE, capacity: 20 },
        { lane: lane("b"), capacity: 50 },
      ];
      const claims = await onBoth([one, other], 30, ({ tasks }) =>
        tasks.claim(claimQuery({ limit: 5, lanes, capacity: 45 })),
      );
      const leases = claims.flatMap((claimed) => claimed.leases);
      expect(new Set(leases.map(({ task }) => task.id)).size).toBe(45);
      expect(leases).toHaveLength(45);
      expect(leases.filter(({ task }) => task.lane === LANE).length).toBeLessThanOrEqual(20);
    }),
  );

  test(
    "let accounts take turns, whichever node goes on",
    withNodes(async (one, other) => {
      const accounts = [accountId(1), accountId(2), accountId(3)];
      for (const [i, id] of accounts.entries()) {
        await addOwner(one, undefined, id);
        await admitMany(one, 4, { accountId: id, number: i * 10 });
      }
      const served: string[] = [];
      for (let i = 0; i < 12; i++) {
        const { leases } = await [one, other][i % 2]!.tasks.claim(claimQuery({ limit: 1 }));
        served.push(leases[0]!.task.accountId);
      }
      expect(served).toEqual([...accounts, ...accounts, ...accounts, ...accounts]);
    }),
  );

  test(
    "go on with the setup that a lane is in, until its row is over",
    withNodes(async (one, other) => {
      await addOwner(one);
      await admitMany(one, 3, { setup: "a" });
      await admitMany(one, 3, { setup: "b", number: 10 });
      const next = async ({ tasks }: PostgresStore, now: number) =>
        (await tasks.claim(claimQuery({ limit: 1, now, leaseMs: 10 * LONGEST_ROW_MS }))).leases[0]?.task
          .setup;
      expect([await next(one, NOW), await next(other, NOW)]).toEqual(["a", "a"]);
      const later = NOW + LONGEST_ROW_MS;
      expect([await next(other, later), await next(one, later)]).toEqual(["b", "b"]);
    }),
  );

  test(
    "begin each task once",
    withNodes(async (one, other) => {
      await addOwner(one);
      await admitMany(one, 40);
      let intents = 0;
      const intentFor = () => newIntent({ id: attemptId(++intents) });
      const claims = await onBoth([one, other], 10, ({ tasks }) => tasks.claim(claimQuery({ intentFor })));
      expect(claims.reduce((sum, { begun }) => sum + (begun?.size ?? 0), 0)).toBe(40);
      const [made] = await askPostgres(
        "select count(*)::int as attempts, count(distinct task_number)::int as tasks from attempt",
      );
      expect(made).toEqual({ attempts: 40, tasks: 40 });
    }),
  );
});

describe.skipIf(!CAN_TEST_POSTGRES)("what two nodes do to the same tasks", () => {
  afterAll(stopPostgres);

  test(
    "settles each once, whoever cancels, ends or rescues it",
    withNodes(async (one) => {
      const other = await openAs("other");
      await addOwner(one, 100 * PRICE);
      const count = 40;
      for (let i = 0; i < count; i++) await one.tasks.admit({ task: newTask({ number: i }), assets: [] });
      const { leases } = await one.tasks.claim(claimQuery({ limit: count / 2 }));
      const end = async ({ tasks }: PostgresStore, lease: Lease, i: number) => {
        const attempt = attemptId(i);
        await tasks.begin(lease, newIntent({ id: attempt }));
        await tasks.apply(lease, submitted(NOW, attempt, { job: "u" }, NOW + 50));
        const again = (await tasks.claim(claimQuery({ now: NOW + 50, limit: 1 }))).leases[0];
        if (again === undefined) return;
        const { task } = again;
        await tasks.apply(
          again,
          i % 2 === 0
            ? failed(task, NOW + 60, taskError("UPSTREAM_ERROR"), callbackId(i))
            : succeeded(task, NOW + 60, again.attempt?.id ?? attempt, [], undefined, callbackId(i)),
        );
      };
      await Promise.all([
        ...leases.flatMap((lease, i) => [end(one, lease, i), end(other, lease, i)]),
        ...Array.from({ length: count }, (_, i) =>
          [one, other][i % 2]!.tasks.requestCancel(taskId(i), OWNER, NOW + (i % 3) * 30),
        ),
        ...[one, other].map(({ tasks }) => tasks.rescue(NOW + 10)),
      ]);
      await other.stop();
      await expectCleanBooks();
      const [settled] = await askPostgres(
        `select count(*)::int as more from (select 1 from ledger_entry where kind in ('capture', 'release')
         group by task_number, kind having count(*) > 1) as twice`,
      );
      expect(settled).toEqual({ more: 0 });
    }),
  );

  test(
    "a holder whose lease another node has by now changes nothing",
    withNodes(async (one) => {
      const other = await openAs("other");
      await addOwner(one);
      await one.tasks.admit({ task: newTask(), assets: [] });
      const [old] = (await one.tasks.claim(claimQuery({ leaseMs: 10 }))).leases;
      const [present] = (await other.tasks.claim(claimQuery({ now: NOW + 10 }))).leases;
      expect(present!.task.id).toBe(old!.task.id);
      expect(await one.tasks.begin(old!, newIntent())).toBe("lease_lost");
      expect(await one.tasks.renew(old!, NOW + 99)).toBe("lease_lost");
      expect(await one.tasks.apply(old!, submitted(NOW, attemptId(1), {}, NOW + 50))).toBe("lease_lost");
      expect(await other.tasks.begin(present!, newIntent())).toBe("begun");
      await other.stop();
    }),
  );

  test(
    "leases of a node that is heard of stay, and those of one that is silent are given back",
    withNodes(async (one) => {
      await addOwner(one);
      const [alive, silent] = [await openAs("alive"), await openAs("silent")];
      try {
        const held: Record<string, TaskId | undefined> = {};
        for (const [i, [name, { tasks }]] of Object.entries({ alive, silent }).entries()) {
          await tasks.admit({ task: newTask({ number: i }), assets: [] });
          held[name] = (await tasks.claim(claimQuery())).leases[0]?.task.id;
        }
        const seen = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
        await askPostgres(
          `insert into node (id, name, role, version, started_at, seen_at) values
             ('alive', 'a', 'all', '1', ${seen}, ${seen} - 9000), ('silent', 'b', 'all', '1', ${seen}, ${seen} - 10001)`,
        );
        expect(await one.tasks.rescue(NOW + 5)).toBe(1);
        const { leases } = await one.tasks.claim(claimQuery({ now: NOW + 5 }));
        expect(leases.map(({ task }) => task.id)).toEqual([held.silent!]);
      } finally {
        await alive.stop();
        await silent.stop();
      }
    }),
  );

  test(
    "when the database's clock is set ahead, leases of nodes that report stay, and those of one that has left are given back",
    withNodes(async (one) => {
      await addOwner(one);
      const silent: string[] = [];
      const [holder, left] = [await openAs("holder"), await openAs("left")];
      const judge = await openAnotherPostgres(
        tokensOf("judge"),
        () => true,
        () => silent,
      );
      try {
        for (const [i, { tasks }] of [holder, left].entries()) {
          await tasks.admit({ task: newTask({ number: i }), assets: [] });
          await tasks.claim(claimQuery());
        }
        await askPostgres(
          `insert into node (id, name, role, version, started_at, seen_at) values ('holder', 'a', 'all', '1', 0, 0)`,
        );
        expect(await judge.tasks.rescue(NOW + 5)).toBe(1);
        silent.push("holder");
        expect(await judge.tasks.rescue(NOW + 5)).toBe(1);
      } finally {
        for (const store of [holder, left, judge]) await store.stop();
      }
    }),
  );

  test(
    "after the database was away, leases of silent nodes stay until those could report",
    withNodes(async (one) => {
      await addOwner(one);
      let isSteady = false;
      const [holder, gone] = [await openAs("holder"), await openAs("gone")];
      const judge = await openAnotherPostgres(tokensOf("judge"), () => isSteady);
      try {
        for (const [i, { tasks }] of [holder, gone].entries()) {
          await tasks.admit({ task: newTask({ number: i }), assets: [] });
          await tasks.claim(claimQuery({ leaseMs: 10 }));
        }
        await askPostgres(
          `insert into node (id, name, role, version, started_at, seen_at) values
             ('holder', 'a', 'all', '1', 0, 0), ('judge', 'b', 'all', '1', 0, ${Number.MAX_SAFE_INTEGER})`,
        );
        // One that has left reports no more, whatever the database did.
        expect(await judge.tasks.rescue(NOW + 5)).toBe(1);
        const late = NOW + 100;
        const claimed = async (now: number) => {
          const { leases, nextDueAt } = await judge.tasks.claim(claimQuery({ now, leaseMs: 1000 }));
          return { ids: leases.map(({ task }) => task.id), nextDueAt };
        };
        expect(await claimed(late)).toEqual({ ids: [taskId(1)], nextDueAt: late + 1000 });
        isSteady = true;
        expect(await judge.tasks.rescue(late)).toBe(1);
        expect((await claimed(late)).ids).toEqual([taskId(0)]);
      } finally {
        for (const store of [holder, gone, judge]) await store.stop();
      }
    }),
  );
});

const openAs = (node: string) => openAnotherPostgres(tokensOf(node));
