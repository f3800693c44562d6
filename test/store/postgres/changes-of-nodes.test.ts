import { afterAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import type { LaneId, ModelId, SessionId } from "../../../src/domain/ids.ts";
import type { RouteTrouble } from "../../../src/domain/ports/route-store.ts";
import type { Seal } from "../../../src/domain/ports/runtime.ts";
import { createSeal } from "../../../src/runtime/seal.ts";
import { sealSecrets } from "../../../src/store/postgres/account-store/sealed-secrets.ts";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { openStore } from "../../../src/store/postgres/open.ts";
import {
  openEmptyPostgres,
  type PostgresStore,
  stopPostgres,
  urlOfPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import {
  ACCOUNT,
  accountId,
  bySystem,
  countingTokens,
  keyId,
  micros,
  NOW,
  newKey,
} from "../../helpers/store.ts";

const OWNER = accountId(1);

async function addKey({ accounts }: PostgresStore, callbackSecret?: string) {
  const account = {
    id: OWNER,
    name: "studio",
    mode: "unlimited",
    credit: micros(0),
    createdAt: NOW,
  } as const;
  await accounts.createAccount(account, bySystem());
  const key = newKey({ accountId: OWNER, signsCallbacks: callbackSecret !== undefined });
  await accounts.createKey(key, callbackSecret, bySystem());
  return key;
}

/** Asks until the answer is as wanted; a test that waits in vain ends by its time limit. */
async function eventually<T>(ask: () => T | Promise<T>, wanted: T): Promise<void> {
  while (!Bun.deepEquals(await ask(), wanted)) await Bun.sleep(5);
}

/** Reads until it is kept: a read during which the node begins to listen is not. */
async function untilAtHand(read: () => unknown): Promise<void> {
  for (let answer = read(); answer instanceof Promise; answer = read()) await answer;
}

/** Ends the connections by which nodes listen. */
async function endListening(): Promise<number> {
  const sql = new SQL({ url: await urlOfPostgres(), max: 1 });
  try {
    const ended = await sql.unsafe(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query ilike 'listen %'`,
    );
    return ended.length;
  } finally {
    await sql.close();
  }
}

afterAll(stopPostgres);

describe.skipIf(!CAN_TEST_POSTGRES)("changes that one node makes, at another one", () => {
  test(
    "a key that is revoked, a suspended account and an ended session are so where they were at hand",
    withNodes(async (one, other) => {
      const key = await addKey(one);
      const grant = () => other.accounts.grantByHash(key.hash, NOW);
      await untilAtHand(grant);
      await one.accounts.updateAccount(OWNER, { status: "suspended" }, bySystem());
      await eventually(async () => (await grant())?.accountStatus, "suspended");
      await one.accounts.revokeKey(key.id, NOW, bySystem());
      await eventually(async () => (await grant())?.revokedAt, NOW);
      const id = "ses_00000000000000000000000001" as SessionId;
      const holder = {
        kind: "api_key",
        holderId: key.id,
        holderName: key.name,
        grantHash: key.hash,
      } as const;
      await one.sessions.create(
        { id, ...holder, isLink: false, createdAt: NOW, expiresAt: NOW + 1 },
        "secret",
      );
      expect((await other.sessions.byHash("secret", NOW))?.id).toBe(id);
      await one.sessions.end(id, bySystem());
      await eventually(() => other.sessions.byHash("secret", NOW), undefined);
    }),
  );

  test(
    "a price that is set holds, and does no more once it is removed",
    withNodes(async ({ prices }, other) => {
      const model = "painter" as ModelId;
      const rule = { version: "own", lines: [], minimumMicros: micros(5) };
      await prices.set({ model, rule, setAt: NOW, reason: "winter" }, bySystem());
      await eventually(() => other.prices.rule(model, NOW), rule);
      await prices.remove(model, bySystem());
      await eventually(() => other.prices.rule(model, NOW), undefined);
    }),
  );

  test(
    "a route that is blocked is told of once, whole",
    withNodes(async ({ routes }, other) => {
      const route = { lane: "fal/second" as LaneId, upstreamModel: "flux" };
      const trouble: RouteTrouble = { ...route, kind: "blocked", detail: "by hand", since: NOW, times: 1 };
      await routes.set({ ...trouble, kind: "open", until: NOW + 1, times: 3 });
      await routes.set(trouble);
      await eventually(() => other.routes.changedTroubles(NOW), [trouble]);
      await other.routes.set({ ...trouble, kind: "open", callers: [ACCOUNT], servesOthers: true });
      await other.routes.clear(route);
      expect(await routes.troubles()).toEqual([trouble]);
      await routes.clear(route, bySystem());
      await eventually(() => other.routes.changedTroubles(NOW), []);
      const theirs = { ...trouble, kind: "open", callers: [ACCOUNT], servesOthers: true } as const;
      await routes.set(theirs);
      expect(await other.routes.troubles()).toEqual([theirs]);
      await routes.clear(route);
      expect(await routes.troubles()).toEqual([]);
    }),
  );

  test(
    "they are seen by a node that lost the connection by which it listens, and later ones too",
    withNodes(async (one, other) => {
      const key = await addKey(one);
      const grant = () => other.accounts.grantByHash(key.hash, NOW);
      const multiplier = async () => (await grant())?.priceMultiplier;
      // Seen means that both listen.
      await one.accounts.updateAccount(OWNER, { priceMultiplier: 1 }, bySystem());
      await eventually(multiplier, 1);
      while ((await endListening()) === 0) await Bun.sleep(5);
      for (const priceMultiplier of [2, 3, 4]) {
        await one.accounts.updateAccount(OWNER, { priceMultiplier }, bySystem());
        await eventually(multiplier, priceMultiplier);
      }
    }),
  );
});

describe.skipIf(!CAN_TEST_POSTGRES)("callback secrets of a database that nodes share", () => {
  const SECRET = `whsec_${"A".repeat(32)}`;
  const sealWith = (key: string, previousKey?: string): Seal =>
    createSeal({ key, previousKey, file: "/nonexistent/secret.key" });
  const openWith = async (seal: Seal) =>
    openStore({ url: await urlOfPostgres(), ids: countingTokens(), seal });

  test("are sealed once by nodes that open it at once, and opened by each that has the key", async () => {
    const clear = await openEmptyPostgres();
    await addKey(clear, SECRET);
    const url = await urlOfPostgres();
    const connections = [1, 2].map(() => openConnection({ url }));
    let unread = connections.length;
    const allRead = Promise.withResolvers<void>();
    const reports = await Promise.all(
      connections.map(({ read, write }) =>
        sealSecrets(
          {
            write,
            // Both have read before one of them writes.
            async read(query) {
              const found = await read(query);
              if (--unread === 0) allRead.resolve();
              await allRead.promise;
              return found;
            },
          },
          sealWith("one key for all"),
        ),
      ),
    );
    expect(reports.map(({ sealed }) => sealed).sort()).toEqual([0, 1]);
    const nodes = await Promise.all([1, 2].map(() => openWith(sealWith("one key for all"))));
    expect(nodes.map(({ sealing }) => sealing?.sealed)).toEqual([0, 0]);
    for (const { accounts } of nodes) expect(await accounts.callbackSecret(keyId(1))).toBe(SECRET);
    expect(await clear.accounts.callbackSecret(keyId(1))).toStartWith("sealed.1.");
    for (const { stop } of [clear, ...connections, ...nodes]) await stop();
  });

  test("are named by a node whose key opens none of them, and sealed anew by one that knows the key before", async () => {
    const first = await openEmptyPostgres();
    await first.stop();
    const owner = await openWith(sealWith("one key for all"));
    const key = await addKey(owner, SECRET);
    const stranger = await openWith(sealWith("another key"));
    expect(stranger.sealing).toEqual({ sealed: 0, locked: [key.name] });
    expect(await stranger.accounts.callbackSecret(key.id)).toBeSymbol();
    const heir = await openWith(sealWith("another key", "one key for all"));
    expect(heir.sealing).toEqual({ sealed: 1, locked: [] });
    expect(await stranger.accounts.callbackSecret(key.id)).toBe(SECRET);
    for (const { stop } of [owner, stranger, heir]) await stop();
  });
});
