import { describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/access/account.ts";
import { ALERT_KINDS, type Condition, type Notice, type Told } from "../../src/domain/alerts.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import type { RouteTrouble } from "../../src/domain/ports/route-store.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import {
  type ConditionDeps,
  createReadConditions,
  type DiskTrouble,
} from "../../src/service/alert-conditions.ts";
import { createAlerting } from "../../src/service/alerting.ts";
import { fakeClock } from "../helpers/engine.ts";
import { ACCOUNT, accountId, LANE, micros } from "../helpers/store.ts";

const LOW: Condition = { kind: "disk_low", subject: "", summary: "Low." };

function setup(answers: (() => Promise<void>)[] = [], kept: Record<string, readonly Told[]> = {}) {
  const clock = fakeClock();
  const sent: Notice["state"][][] = [];
  const said: string[] = [];
  const state = { conditions: [LOW] as readonly Condition[], kept, isFinding: false };
  const write = (_: object, message: string) => void said.push(message);
  const alerting = createAlerting({
    clock,
    log: { info: write, warn: write },
    targets: () => [
      {
        ...{ id: "a", name: "webhook example.com", kinds: ALERT_KINDS },
        ...{ remindMs: 86_400_000, errorPercent: 5 },
        async send(notices) {
          sent.push(notices.map((notice) => notice.state));
          await answers.shift()?.();
        },
      },
    ],
    read: async () => state.conditions,
    isFinding: () => state.isFinding,
    memory: {
      load: () => state.kept,
      save: (told) => {
        state.kept = told;
      },
    },
  });
  return { clock, sent, said, state, alerting };
}

describe("alerts", () => {
  test("are sent once, and their end once", async () => {
    const { sent, state, alerting } = setup();
    await alerting.look();
    await alerting.look();
    state.conditions = [];
    await alerting.look();
    await alerting.look();
    expect(sent).toEqual([["firing"], ["resolved"]]);
  });

  test("that could not be sent are sent at the next look, and the log says why", async () => {
    const { sent, said, alerting } = setup([() => Promise.reject(new Error("it answered 500"))]);
    await alerting.look();
    await alerting.look();
    await alerting.look();
    expect(sent).toEqual([["firing"], ["firing"]]);
    expect(said).toEqual(["alerts could not be sent; trying again", "alerts were sent"]);
  });

  test("of an earlier process are not sent again, and their end is", async () => {
    const before = setup();
    await before.alerting.look();
    const { sent, state, alerting } = setup([], before.state.kept);
    await alerting.look();
    expect(sent).toEqual([]);
    state.conditions = [];
    await alerting.look();
    expect(sent).toEqual([["resolved"]]);
  });

  test("are looked for once a minute until the end", async () => {
    const { clock, sent, state, alerting } = setup();
    const turn = () => new Promise(setImmediate);
    alerting.start();
    clock.advance(2_000);
    await turn();
    state.conditions = [];
    clock.advance(59_999);
    await turn();
    expect(sent).toHaveLength(1);
    clock.advance(1);
    await turn();
    alerting.stop();
    clock.advance(600_000);
    await turn();
    expect(sent).toHaveLength(2);
  });

  test("are looked for again a second later while something is being found out", async () => {
    const { clock, sent, state, alerting } = setup();
    const turn = () => new Promise(setImmediate);
    Object.assign(state, { isFinding: true, conditions: [] });
    alerting.start();
    clock.advance(2_000);
    await turn();
    state.conditions = [LOW];
    clock.advance(1_000);
    await turn();
    alerting.stop();
    expect(sent).toEqual([["firing"]]);
  });
});

describe("what is wrong", () => {
  const account: Account = {
    ...{ id: ACCOUNT, name: "web", mode: "prepaid", status: "active", balance: micros(3_000_000) },
    ...{ held: micros(0), creditLimit: micros(0), priceMultiplier: 1_000_000, lowBalance: micros(5_000_000) },
    createdAt: 0,
  };
  /** A store of so many accounts, which are not read otherwise. */
  const accountsOf = (
    count: number,
    more: Partial<ConditionDeps["accounts"]> = {},
  ): ConditionDeps["accounts"] => ({
    accounts: async ({ limit }) => Array.from({ length: Math.min(count, limit) }, () => ({}) as Account),
    lowAccounts: async () => [],
    ...more,
  });
  const calm = { hour: { models: [] }, minute: { answered: { "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0 } } };

  function reading(given: Partial<ConditionDeps> & { failed?: number; errors?: number } = {}) {
    const clock = fakeClock();
    const { failed = 0, errors = 0 } = given;
    const models = [{ model: "m", completed: 100 - failed, failed }];
    const minute = { answered: { ...calm.minute.answered, "2xx": 200 - errors, "5xx": errors } };
    const dead = { at: [] as number[] };
    const read = createReadConditions({
      clock,
      accounts: accountsOf(2),
      routes: { troubles: async () => [] },
      isOn: (lane) => lane === LANE,
      // What is not read of the counts is left out.
      counts: { hour: () => ({ models }), minute: () => minute } as never,
      disk: () => undefined,
      callbacks: { givenUp: async (since) => dead.at.filter((at) => at >= since).length },
      backupFailing: () => undefined,
      ...given,
    });
    return { clock, dead, read };
  }
  const kindsOf = (conditions: readonly Condition[]) =>
    conditions.flatMap(({ kind, level }) => (level === undefined ? [kind] : []));

  test("is nothing of a service that is well, but a figure", async () => {
    const conditions = await reading().read([]);
    expect(conditions.map(({ kind, level }) => [kind, level])).toEqual([["error_budget", 0]]);
  });

  test("is a disk below its marks, with what would free space", async () => {
    const trouble: DiskTrouble = {
      ...{ isRefusing: false, free: 4e8, warnBelow: 5e8, refuseBelow: 1e8, advice: [], isAdvised: true },
    };
    const summary = async (more: Partial<DiskTrouble>) =>
      (await reading({ disk: () => ({ ...trouble, ...more }) }).read([]))[0]?.summary;
    expect(await summary({})).toBe(
      "The disk of the data folder has 400 MB left, less than 500 MB; new tasks are refused below 100 MB.",
    );
    expect(await summary({ refuseBelow: 0 })).toEndWith("less than 500 MB; new tasks are taken.");
    expect(await summary({ isRefusing: true, free: 5e7, warnBelow: 0, advice: ["one", "two"] })).toBe(
      "The disk of the data folder has 50 MB left, less than 100 MB; new tasks are refused. What would free space: one; two.",
    );
    // While that is counted nothing is told, and nothing that was told is over.
    const unadvised = reading({ disk: () => ({ ...trouble, isAdvised: false }) });
    expect(kindsOf(await unadvised.read([]))).toEqual([]);
    const told = { kind: "disk_low", subject: "", summary: "", since: 0, toldAt: 0 } as const;
    expect(kindsOf(await unadvised.read([told]))).toEqual(["disk_low"]);
  });

  test("is each account below its level, with what it has left", async () => {
    const { read } = reading({ accounts: accountsOf(1, { lowAccounts: async () => [account] }) });
    expect((await read([]))[0]).toEqual({
      ...{ kind: "low_balance", subject: ACCOUNT },
      summary: `Account web (${ACCOUNT}) has 3.000000 USD left; 5.000000 is its level.`,
    });
    const enough = { ...account, balance: micros(6_000_000) };
    const again = reading({ accounts: accountsOf(1, { lowAccounts: async () => [enough] }) });
    expect((await again.read([]))[0]?.summary).toBe(
      `Account web (${ACCOUNT}) has 6.000000 USD left, and had less than 5.000000 while tasks ran; 5.000000 is its level.`,
    );
  });

  test("is a route that its upstream refuses, at once; one that failed after two minutes; one that is blocked never", async () => {
    const trouble = (kind: RouteTrouble["kind"]): RouteTrouble => ({
      ...{ lane: LANE, upstreamModel: kind, kind, detail: "no", since: fakeClock().now(), times: 1 },
    });
    const troubles = (["refused", "spent", "open", "blocked"] as const).map(trouble);
    const { clock, read } = reading({ routes: { troubles: async () => troubles } });
    const subjects = async () =>
      (await read([])).flatMap(({ kind, subject }) => (kind === "route_down" ? [subject] : []));
    expect(await subjects()).toEqual([`${LANE}:refused`, `${LANE}:spent`]);
    clock.advance(120_000);
    expect(await subjects()).toEqual([`${LANE}:refused`, `${LANE}:spent`, `${LANE}:open`]);
    expect((await read([])).find(({ kind }) => kind === "route_down")?.since).toBe(fakeClock().now());
  });

  test("is what one caller alone meets on a route after ten minutes, and not while others are served there", async () => {
    const trouble: RouteTrouble = {
      ...{ lane: LANE, upstreamModel: "m", kind: "spent", detail: "402", since: fakeClock().now(), times: 1 },
      ...{ callers: [ACCOUNT], servesOthers: false },
    };
    const both = { ...trouble, upstreamModel: "both", callers: [ACCOUNT, accountId(2)] };
    const theirs = { ...both, upstreamModel: "theirs", servesOthers: true };
    const { clock, read } = reading({ routes: { troubles: async () => [trouble, both, theirs] } });
    const subjects = async () => (await read([])).flatMap(({ subject }) => subject || []);
    expect(await subjects()).toEqual([`${LANE}:both`]);
    clock.advance(600_000);
    expect(await subjects()).toEqual([`${LANE}:m`, `${LANE}:both`]);
  });

  test("is at once what the only account meets on a route", async () => {
    const trouble: RouteTrouble = {
      ...{ lane: LANE, upstreamModel: "m", kind: "spent", detail: "402", since: fakeClock().now(), times: 1 },
      ...{ callers: [ACCOUNT], servesOthers: false },
    };
    const { read } = reading({ accounts: accountsOf(1), routes: { troubles: async () => [trouble] } });
    expect(kindsOf(await read([]))).toEqual(["route_down"]);
  });

  test("is no route of a provider that was switched off", async () => {
    const trouble: RouteTrouble = {
      ...{ lane: "gone" as LaneId, upstreamModel: "m", kind: "refused", detail: "no", since: 0, times: 1 },
    };
    const { read } = reading({ routes: { troubles: async () => [trouble] } });
    expect(kindsOf(await read([]))).toEqual([]);
  });

  test("is a database that cannot be read, beside what needs none, and what it last told is not over", async () => {
    const away = async () => {
      throw new StorageError("away", "The database does not answer.");
    };
    const low = { kind: "low_balance", subject: ACCOUNT, summary: "Low.", since: 1, toldAt: 2 } as const;
    const failed = { kind: "backup_failed", subject: "", summary: "Failed.", since: 1, toldAt: 2 } as const;
    const { read } = reading({ accounts: accountsOf(1, { lowAccounts: away }), errors: 150 });
    const conditions = await read([low, failed, low]);
    expect(conditions.map(({ kind, summary, level }) => [kind, level ?? summary])).toEqual([
      ["database_down", "The database cannot be read: The database does not answer."],
      ["low_balance", "Low."],
      ["error_budget", 75],
    ]);
  });

  test("is a callback that was given up, for an hour", async () => {
    const { clock, dead, read } = reading();
    dead.at = [clock.now()];
    expect((await read([]))[0]?.summary).toBe(
      "1 callback of the last hour could not be delivered and will not be tried again; svc callbacks list --state failed --local shows them.",
    );
    clock.advance(3_600_000);
    expect(kindsOf(await read([]))).toEqual(["dead_callbacks"]);
    clock.advance(1);
    expect(kindsOf(await read([]))).toEqual([]);
    dead.at = Array.from({ length: 100 }, () => clock.now());
    expect((await read([]))[0]?.summary).toStartWith("100 callbacks or more of the last hour");
  });

  test("is a backup that fails, with its reason", async () => {
    const { read } = reading({ backupFailing: () => ({ since: 0, reason: "no room" }) });
    expect((await read([])).find(({ kind }) => kind === "backup_failed")?.summary).toBe(
      "No backup could be made since 1970-01-01T00:00:00.000Z: no room",
    );
  });

  test("is the larger share of tasks that failed and of answers that were errors", async () => {
    const level = async (given: { failed?: number; errors?: number }) =>
      (await reading(given).read([])).find(({ kind }) => kind === "error_budget")?.level;
    expect([
      await level({ failed: 12 }),
      await level({ errors: 30 }),
      await level({ failed: 12, errors: 30 }),
    ]).toEqual([12, 15, 15]);
  });
});
