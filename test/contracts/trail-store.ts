import { describe, expect, test } from "bun:test";
import type { Act } from "../../src/domain/access/actor.ts";
import type { Micros } from "../../src/domain/money/money.ts";
import type { TrailFilter } from "../../src/domain/ports/trail-store.ts";
import {
  ACCOUNT,
  accountId,
  admit,
  byHand,
  byToken,
  type MakeStore,
  micros,
  NOW,
  newKey,
  type StoreUnderTest,
  taskId,
  tokenId,
  withStore,
} from "../helpers/store.ts";

const credit = (store: StoreUnderTest, amount: number, act: Act, account = ACCOUNT) =>
  store.accounts.credit(account, micros(amount) as Micros, `by ${amount}`, act);

/** A page without the account that every test begins with, which the service made. */
async function own(trail: StoreUnderTest["trail"], filter: TrailFilter) {
  const { entries, ...page } = await trail.page(filter);
  return { ...page, entries: entries.filter(({ actor }) => actor.kind !== "system") };
}

async function amounts(store: StoreUnderTest, filter: Partial<TrailFilter> = {}) {
  const { entries } = await own(store.trail, { limit: 100, ...filter });
  return entries.map(({ after }) => Number(String(after?.reason).slice(3)));
}

/** What every implementation of `TrailStore` does, and what the other stores write into it. */
export function describeTrailStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a change is noted with who made it and what changed",
      withStore(make, async (store) => {
        expect((await own(store.trail, { limit: 5 })).entries).toEqual([]);
        await credit(store, 5, byToken(NOW + 1));
        expect(await own(store.trail, { limit: 5 })).toEqual({
          entries: [
            {
              number: 2,
              at: NOW + 1,
              actor: { kind: "token", id: tokenId(1), name: "console" },
              action: "account.credit",
              object: { kind: "account", id: ACCOUNT, name: ACCOUNT },
              before: { balance: "0.000000" },
              after: { balance: "0.000005", amount: "0.000005", reason: "by 5" },
            },
          ],
        });
      }),
    );

    test(
      "a key's changes are noted without its secrets, and what changes nothing is not noted",
      withStore(make, async ({ accounts, trail }) => {
        const { id } = newKey();
        await accounts.createKey(newKey(), undefined, byHand(NOW));
        await accounts.createKey(newKey({ number: 2, name: newKey().name }), undefined, byHand(NOW));
        await accounts.changeKey(id, { policy: { concurrency: 4 } }, byHand(NOW + 1));
        await accounts.changeKey(id, { policy: { concurrency: 4 } }, byHand(NOW + 2));
        await accounts.changeKey(id, { policy: {}, signing: { secret: "whsec_top" } }, byHand(NOW + 3));
        await accounts.changeKey(id, { policy: {}, signing: { secret: "whsec_next" } }, byHand(NOW + 4));
        await accounts.rotateKey(id, { hash: "b".repeat(64), display: "next" }, byHand(NOW + 5));
        await accounts.revokeKey(id, NOW + 6, byHand(NOW + 6));
        await accounts.revokeKey(id, NOW + 7, byHand(NOW + 7));
        const { entries } = await own(trail, { limit: 100 });
        expect(entries.map(({ at, action, before, after }) => [at - NOW, action, before, after])).toEqual([
          [
            6,
            "key.revoke",
            { status: "active", revoked_at: null },
            { status: "revoked", revoked_at: Math.floor((NOW + 6) / 1000) },
          ],
          [5, "key.rotate", { display: newKey().display }, { display: "next" }],
          [4, "key.update", {}, { callback_secret: "replaced" }],
          [
            3,
            "key.update",
            { signs_callbacks: false },
            { signs_callbacks: true, callback_secret: "replaced" },
          ],
          [1, "key.update", { concurrency: null }, { concurrency: 4 }],
          [0, "key.create", undefined, expect.objectContaining({ id, name: newKey().name })],
        ]);
        expect(JSON.stringify(entries)).not.toMatch(/whsec_|"hash"|bbbb/);
      }),
    );

    test(
      "what is refused, undone or asked for twice is not noted",
      withStore(make, async (store) => {
        await credit(store, 1, byHand(NOW), accountId(9));
        await store.accounts.credit(ACCOUNT, micros(2), "by 2", byHand(NOW), "once");
        await store.accounts.credit(ACCOUNT, micros(2), "by 2", byHand(NOW), "once");
        await store.accounts.credit(ACCOUNT, micros(3), "by 3", byHand(NOW), "once");
        await store.accounts.updateAccount(ACCOUNT, { status: "active" }, byHand(NOW));
        await store.accounts.refund(taskId(1), undefined, "none", byHand(NOW));
        expect(await amounts(store)).toEqual([2]);
      }),
    );

    test(
      "an operator's cancel is noted once, and an owner's is not",
      withStore(make, async (store) => {
        await admit(store, { number: 1 });
        await admit(store, { number: 2 });
        await store.tasks.requestCancel(taskId(1), ACCOUNT, NOW);
        await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW, byToken(NOW));
        await store.tasks.requestCancel(taskId(2), ACCOUNT, NOW, byToken(NOW));
        const { entries } = await own(store.trail, { limit: 9 });
        expect(entries.map(({ action, object, after }) => [action, object.id, after])).toEqual([
          ["task.cancel", taskId(2), { status: "cancelled" }],
        ]);
      }),
    );

    test(
      "what no table holds is noted by itself",
      withStore(make, async ({ trail }) => {
        const object = { kind: "server", id: "log" } as const;
        await trail.note(byToken(NOW), { action: "log.level", object, after: { level: "debug" } });
        const { entries } = await own(trail, { limit: 9 });
        expect(entries).toMatchObject([{ action: "log.level", object, after: { level: "debug" } }]);
      }),
    );

    describePages(make);
  });
}

function describePages(make: MakeStore): void {
  test(
    "pages follow each other, newest first, also where the clock was set back",
    withStore(make, async (store) => {
      const times = [50, 10, 30, 30, 20];
      for (const [i, after] of times.entries()) await credit(store, i + 1, byHand(NOW + after));
      expect(await amounts(store)).toEqual([1, 4, 3, 5, 2]);
      const seen: number[] = [];
      for (let after: number | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await own(store.trail, { limit: 2, after });
        seen.push(...page.entries.map(({ number }) => number));
        after = page.next;
      }
      // The account that the test begins with has the first number.
      expect(seen).toEqual([2, 5, 4, 6, 3]);
      expect(await amounts(store, { since: NOW + 20, until: NOW + 50 })).toEqual([4, 3, 5]);
      expect(await amounts(store, { since: NOW + 20, until: NOW + 50, after: 5 })).toEqual([3, 5]);
      expect(await amounts(store, { until: NOW + 30, after: 2 })).toEqual([5, 2]);
      expect(await amounts(store, { after: 99 })).toEqual([]);
    }),
  );

  test(
    "filters by actor, action and object find their own entries, one by one and together",
    withStore(make, async (store) => {
      await store.accounts.createAccount(
        { id: accountId(2), name: "b", mode: "unlimited", credit: micros(0), createdAt: NOW },
        byHand(NOW),
      );
      await credit(store, 1, byHand(NOW + 1));
      await credit(store, 2, byToken(NOW + 2));
      await credit(store, 3, byToken(NOW + 3), accountId(2));
      await credit(store, 4, byHand(NOW + 4), accountId(2));
      const action = "account.credit";
      const object = accountId(2);
      expect(await amounts(store, { actor: tokenId(1) })).toEqual([3, 2]);
      expect(await amounts(store, { action })).toEqual([4, 3, 2, 1]);
      expect(await amounts(store, { object, action })).toEqual([4, 3]);
      expect(await amounts(store, { actor: "local", action })).toEqual([4, 1]);
      expect(await amounts(store, { actor: "local", object, action })).toEqual([4]);
      expect(await amounts(store, { actor: tokenId(1), object, since: NOW + 4 })).toEqual([]);
      const first = await own(store.trail, { limit: 1, object, action });
      expect(first).toMatchObject({ entries: [{ number: 6 }], next: 6 });
      expect(await amounts(store, { object, action, after: first.next })).toEqual([3]);
      expect(await amounts(store, { action: "key.create" })).toEqual([]);
    }),
  );
}
