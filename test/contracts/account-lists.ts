import { describe, expect, test } from "bun:test";
import type { ManagementToken } from "../../src/domain/access/account.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  bySystem,
  keyId,
  type MakeStore,
  micros,
  NOW,
  newKey,
  tokenId,
  withStore,
} from "../helpers/store.ts";

const idsOf = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

function newToken(number: number, name: string): ManagementToken {
  const terms = { display: "mt-svc-abcd…wxyz", scopes: ["read"], createdAt: NOW } as const;
  return { id: tokenId(number), name, hash: `hash ${number}`, ...terms };
}

/** How every implementation of `AccountStore` lists accounts, keys and tokens, and finds them by their names. */
export function describeAccountLists(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "accounts come in pages in the order of their ids",
      withStore(make, async (store) => {
        for (const number of [4, 2, 3])
          await addAccount(store, { id: accountId(number), name: `a${number}` });
        const { accounts } = store;
        const first = await accounts.accounts({ limit: 3 });
        expect(idsOf(first)).toEqual([ACCOUNT, accountId(2), accountId(3)]);
        expect(idsOf(await accounts.accounts({ limit: 3, after: accountId(3) }))).toEqual([accountId(4)]);
        expect(await accounts.accounts({ limit: 3, after: accountId(4) })).toEqual([]);
        const back = { order: "desc", limit: 3 } as const;
        expect(idsOf(await accounts.accounts(back))).toEqual([4, 3, 2].map(accountId));
        expect(idsOf(await accounts.accounts({ ...back, after: accountId(2) }))).toEqual([ACCOUNT]);
        expect(await accounts.accounts({ ...back, after: ACCOUNT })).toEqual([]);
        const names = await accounts.accountNames([accountId(4), accountId(9), accountId(2)]);
        expect(names).toEqual(
          new Map([
            [accountId(4), "a4"],
            [accountId(2), "a2"],
          ]),
        );
      }),
    );

    test(
      "keys that have a quota and are not revoked are listed without the others",
      withStore(make, async (store) => {
        const { accounts } = store;
        await addAccount(store, { id: accountId(2), name: "other" });
        const policy = { quota: { limit: micros(5), reset: "total" } } as const;
        const isLimited = true;
        for (const number of [1, 2, 3, 4, 5, 6]) {
          const owner = number % 2 === 0 ? { accountId: accountId(2) } : {};
          const terms = number < 3 ? {} : { policy };
          await accounts.createKey(newKey({ number, ...owner, ...terms }), undefined, bySystem());
        }
        await accounts.revokeKey(keyId(5), NOW, bySystem());
        expect(idsOf(await accounts.keys({ limit: 9, isLimited }))).toEqual([3, 4, 6].map(keyId));
        expect(idsOf(await accounts.keys({ limit: 9, isLimited, after: keyId(3) }))).toEqual(
          [4, 6].map(keyId),
        );
        const of = { account: accountId(2), isLimited };
        expect(idsOf(await accounts.keys({ ...of, limit: 1, order: "desc" }))).toEqual([keyId(6)]);
        await accounts.changeKey(keyId(6), { policy: { quota: null } }, bySystem());
        expect(idsOf(await accounts.keys({ ...of, limit: 9 }))).toEqual([keyId(4)]);
      }),
    );

    test(
      "keys come in pages in the order of their ids, of all accounts or of one",
      withStore(make, async (store) => {
        const { accounts } = store;
        await addAccount(store, { id: accountId(2), name: "other" });
        for (const number of [5, 1, 4, 2, 3]) {
          const owner = number % 2 === 0 ? { accountId: accountId(2) } : {};
          await accounts.createKey(newKey({ number, name: `k${number}`, ...owner }), undefined, bySystem());
        }
        const one = { account: accountId(2), limit: 1 };
        expect(idsOf(await accounts.keys({ limit: 3 }))).toEqual([1, 2, 3].map(keyId));
        expect(idsOf(await accounts.keys({ limit: 3, after: keyId(3) }))).toEqual([4, 5].map(keyId));
        expect(idsOf(await accounts.keys(one))).toEqual([keyId(2)]);
        expect(idsOf(await accounts.keys({ ...one, after: keyId(2) }))).toEqual([keyId(4)]);
        expect(await accounts.keys({ ...one, after: keyId(4) })).toEqual([]);
        const back = { order: "desc", limit: 3 } as const;
        expect(idsOf(await accounts.keys(back))).toEqual([5, 4, 3].map(keyId));
        expect(idsOf(await accounts.keys({ ...back, after: keyId(3) }))).toEqual([2, 1].map(keyId));
        expect(idsOf(await accounts.keys({ ...back, account: ACCOUNT }))).toEqual([5, 3, 1].map(keyId));
        expect(idsOf(await accounts.keys({ ...one, ...back, after: keyId(4) }))).toEqual([keyId(2)]);
        expect(await accounts.keyNames([keyId(9), keyId(5)])).toEqual(new Map([[keyId(5), "k5"]]));
        expect(await accounts.keyNames([])).toEqual(new Map());
      }),
    );

    test(
      "a key's name means those that are not revoked, newest first, and without any the one revoked last",
      withStore(make, async (store) => {
        const { accounts } = store;
        for (const number of [1, 2, 3, 4]) {
          if (number > 1) await addAccount(store, { id: accountId(number), name: `a${number}` });
          const key = newKey({ number, name: "web", accountId: accountId(number) });
          await accounts.createKey(key, undefined, bySystem());
        }
        await accounts.revokeKey(keyId(4), NOW, bySystem());
        expect(idsOf(await accounts.keysNamed("web", 9))).toEqual([3, 2, 1].map(keyId));
        expect(idsOf(await accounts.keysNamed("web", 2))).toEqual([3, 2].map(keyId));
        await accounts.revokeKey(keyId(3), NOW + 1, bySystem());
        await accounts.revokeKey(keyId(1), NOW + 3, bySystem());
        await accounts.revokeKey(keyId(2), NOW + 2, bySystem());
        expect(idsOf(await accounts.keysNamed("web", 9))).toEqual([keyId(1)]);
        expect(await accounts.keysNamed("none", 9)).toEqual([]);
      }),
    );

    test(
      "tokens come in pages in the order of their ids, and a revoked one is found by its name",
      withStore(make, async ({ accounts }) => {
        for (const number of [3, 1, 2]) {
          await accounts.createToken(newToken(number, "ops"), bySystem());
          if (number !== 2) await accounts.revokeToken(tokenId(number), NOW + 9 - number, bySystem());
        }
        expect(idsOf(await accounts.tokens({ limit: 2 }))).toEqual([1, 2].map(tokenId));
        expect(idsOf(await accounts.tokens({ limit: 2, after: tokenId(2) }))).toEqual([tokenId(3)]);
        const back = { order: "desc", limit: 2 } as const;
        expect(idsOf(await accounts.tokens(back))).toEqual([3, 2].map(tokenId));
        expect(idsOf(await accounts.tokens({ ...back, after: tokenId(2) }))).toEqual([tokenId(1)]);
        expect((await accounts.revokedToken("ops"))?.id).toBe(tokenId(1));
        expect(await accounts.revokedToken("none")).toBeUndefined();
      }),
    );
  });
}
