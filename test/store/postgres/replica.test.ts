import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { SQL } from "bun";
import { replicaChecks } from "../../../src/app/doctor/replica.ts";
import type { AccountId } from "../../../src/domain/ids.ts";
import { type Connection, openConnection } from "../../../src/store/postgres/connection.ts";
import { openStoreOn } from "../../../src/store/postgres/open.ts";
import { openReplica, type ReplicaTrouble } from "../../../src/store/postgres/replica.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { bySystem, countingTokens, micros, NOW } from "../../helpers/store.ts";
import { type DatabasePair, startPair } from "../../moving/database-pair.ts";
import { HAS_POSTGRES, onceOn, startPostgres } from "../../moving/database-servers.ts";

const account = (name: string) => ({
  ...{ id: `acct_${name}` as AccountId, name, mode: "prepaid" as const, credit: micros(5), createdAt: NOW },
});

describe.skipIf(!HAS_POSTGRES)("a replica", () => {
  let folder: string;
  let pair: DatabasePair;
  let primary: Connection;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-replica-");
    pair = await startPair(folder);
    // It follows, and nobody waits for it.
    await onceOn(pair.url, "alter database gateway set synchronous_commit = 'local'");
    primary = openConnection({ url: pair.url });
  }, 120_000);
  afterAll(async () => {
    await primary.stop();
    await pair.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** A store whose lists are read from `url`, and what becomes of that; its time stands still. */
  async function opened(url: string, mostMs?: number) {
    const told: (ReplicaTrouble | "used")[] = [];
    let changed = Promise.withResolvers<void>();
    let now = 0;
    const tell = (each: ReplicaTrouble | "used") => {
      told.push(each);
      changed.resolve();
    };
    const replica = openReplica({
      ...{ url, connections: 2, primary, elapsed: () => now, lookEveryMs: 5, mostMs },
      onTrouble: tell,
      onUsed: () => tell("used"),
    });
    const store = await openStoreOn(primary, { ids: countingTokens(), readers: replica, watches: false });
    return {
      ...{ store, replica, told },
      /** Resolves when so much was told. */
      async toldOf(count: number): Promise<void> {
        while (told.length < count) {
          await changed.promise;
          changed = Promise.withResolvers();
        }
      },
      pass(ms: number): void {
        now += ms;
      },
    };
  }

  const pauseReplay = () => onceOn(pair.standbyUrl(), "select pg_wal_replay_pause()");
  const resumeReplay = () => onceOn(pair.standbyUrl(), "select pg_wal_replay_resume()");

  test("answers lists, reports, ledgers and the trail, until it is too far behind, and again later", async () => {
    const { store, replica, told, toldOf, pass } = await opened(pair.standbyUrl());
    const seen = async () => ({
      ledger: (await store.accounts.ledgerPage("acct_first" as AccountId, { limit: 9 })).length,
      trail: (await store.trail.page({ limit: 9 })).entries.length,
      balance: (await store.accounts.account("first"))?.balance,
    });
    await store.accounts.createAccount(account("first"), bySystem());
    await replica.start();
    await toldOf(1);
    expect(await seen()).toEqual({ ledger: 1, trail: 1, balance: micros(5) });

    await pauseReplay();
    await store.accounts.createAccount(account("second"), bySystem());
    await store.accounts.credit("acct_first" as AccountId, micros(2), "more", bySystem());
    expect(await seen()).toEqual({ ledger: 1, trail: 1, balance: micros(7) });
    expect((await store.usage.report({ from: 0, to: 9, by: "model" })).length).toBe(0);
    expect((await store.tasks.managedTasks({ limit: 9 })).tasks).toEqual([]);

    pass(10_001);
    expect(await seen()).toEqual({ ledger: 2, trail: 3, balance: micros(7) });
    await toldOf(2);
    expect([replica.isUsed(), replica.lagMs()]).toEqual([false, 10_001]);

    await resumeReplay();
    await toldOf(3);
    expect(told).toEqual([
      "used",
      { kind: "behind", reason: expect.stringContaining("more than 10 seconds") },
      "used",
    ]);
    expect([replica.isUsed(), replica.lagMs()]).toEqual([true, 0]);
    await replica.stop();
  }, 60_000);

  test("is told of by doctor", async () => {
    const found = (databaseReplica: string) =>
      replicaChecks({ database: createSecret(pair.url), databaseReplica: createSecret(databaseReplica) });
    expect(await found(pair.url)).toEqual([
      { id: "replica", status: "ok", message: "The replica has all that the database has." },
    ]);
    expect(await found(pair.standbyUrl())).toMatchObject([{ id: "replica", status: "ok" }]);
    expect(await found(pair.standbyUrl().replace(/gateway$/, "postgres"))).toMatchObject([
      {
        id: "replica",
        status: "error",
        message: expect.stringContaining("another database of the same cluster"),
      },
    ]);
    const [gone] = await found(pair.standbyUrl().replace(/:\d+\//, ":1/"));
    expect(gone).toMatchObject({
      id: "replica",
      status: "warn",
      message: expect.stringContaining("is not reached"),
    });
    expect(JSON.stringify(gone)).not.toContain(new URL(pair.url).password);
  });

  test("may be the database itself", async () => {
    const { replica, told } = await opened(pair.url);
    await replica.start();
    expect([told, replica.isUsed()]).toEqual([["used"], true]);
    await replica.stop();
  });

  test("is refused where it is another database, in the same cluster or not", async () => {
    const elsewhere = mkdtempSync("/tmp/svc-other-");
    const other = await startPostgres(elsewhere);
    const refused = async (url: string) => {
      const { replica, told } = await opened(url);
      const error = await replica.start().catch((reason: Error) => reason.message);
      await replica.stop();
      return [error, told, replica.isUsed()];
    };
    const ofOther = expect.stringContaining("another cluster than database. Name a streaming standby");
    expect(await refused(await other.newDatabase())).toEqual([ofOther, [], false]);
    const beside = expect.stringContaining("another database of the same cluster. Give it the name");
    expect(await refused(pair.standbyUrl().replace(/gateway$/, "postgres"))).toEqual([beside, [], false]);
    await other.stop();
    rmSync(elsewhere, { recursive: true, force: true });
  }, 60_000);

  test.each(["bun", "pg"])(
    "that stands still holds up nobody for long: what waits for it is asked of the database (%s)",
    async (client) => {
      const { store, replica, told, toldOf } = await opened(`${pair.standbyUrl()}?client=${client}`, 400);
      await replica.start();
      // On a busy machine it may be away at first.
      while (told.at(-1) !== "used") await toldOf(told.length + 1);
      // Both of its connections are there.
      await Promise.all(Array.from({ length: 4 }, () => store.trail.page({ limit: 9 })));
      const sql = new SQL({ url: pair.standbyUrl(), max: 1 });
      const backends = await sql.unsafe("select pid from pg_stat_activity where application_name = 'svc'");
      await sql.close();
      for (const { pid } of backends) process.kill(pid, "SIGSTOP");
      try {
        const before = told.length;
        expect((await store.trail.page({ limit: 9 })).entries.length).toBeGreaterThan(0);
        await toldOf(before + 1);
        expect(told[before]).toEqual({ kind: "away", reason: "It does not answer." });
        // Its other connections do.
        await toldOf(before + 2);
        expect(told[before + 1]).toBe("used");
      } finally {
        for (const { pid } of backends) process.kill(pid, "SIGCONT");
      }
      await replica.stop();
    },
    60_000,
  );

  test("that is gone does no harm, later and from the start on", async () => {
    const { store, replica, told, toldOf } = await opened(pair.standbyUrl());
    await replica.start();
    await toldOf(1);
    await pair.killStandby();
    const { entries } = await store.trail.page({ limit: 9 });
    expect(entries.length).toBeGreaterThan(0);
    await toldOf(2);
    expect(told[1]).toMatchObject({ kind: "away" });
    expect(JSON.stringify(told)).not.toContain(new URL(pair.url).password);
    expect(replica.isUsed()).toBe(false);
    await replica.stop();

    const later = await opened(pair.standbyUrl());
    await later.replica.start();
    expect(later.told).toEqual([{ kind: "away", reason: expect.stringContaining("it is not reached") }]);
    await later.replica.stop();
  }, 60_000);

  test("that takes over and writes by itself is left aside from then on", async () => {
    await pair.restartStandby();
    const { replica, told, toldOf } = await opened(pair.standbyUrl());
    await replica.start();
    await toldOf(1);
    await onceOn(pair.standbyUrl(), "select pg_promote(true, 60)");
    while (told.at(-1) === "used" || told.length < 2) await toldOf(told.length + 1);
    expect(told.at(-1)).toEqual({
      kind: "wrong",
      reason: expect.stringContaining("takes writes of its own now"),
    });
    expect(replica.isUsed()).toBe(false);
    await replica.stop();
  }, 60_000);
});
