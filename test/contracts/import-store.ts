import { describe, expect, test } from "bun:test";
import type { ApiKey } from "../../src/domain/access/account.ts";
import type { AccountId, KeyId } from "../../src/domain/ids.ts";
import type { ImportBatch } from "../../src/domain/ports/import-store.ts";
import {
  ACCOUNT,
  accountId,
  bySystem,
  keyId,
  type MakeStore,
  micros,
  NOW,
  withStore,
} from "../helpers/store.ts";

function newKey(n: number, of: AccountId, more: Partial<ApiKey> = {}): ApiKey {
  return {
    id: keyId(n) as KeyId,
    accountId: of,
    name: `key-${n}`,
    hash: String(n).padStart(64, "0"),
    display: "sk-abc…wxyz",
    policy: { requestsPerMinute: 5 },
    createdAt: NOW,
    signsCallbacks: false,
    ...more,
  };
}

function batch(n: number, more: Partial<ImportBatch> = {}): ImportBatch {
  const id = accountId(n);
  return {
    source: "other",
    accounts: [
      {
        origin: `team:${n}`,
        account: { id, name: `team-${n}`, mode: "prepaid", credit: micros(5_000_000), createdAt: NOW },
        terms: { priceMultiplier: 1_500_000, status: "suspended" },
      },
    ],
    keys: [{ origin: `key:${n}`, key: newKey(n, id) }],
    ...more,
  };
}

/** What every implementation of `ImportStore` does. `make` gives an empty store each time. */
export function describeImportStore(name: string, make: MakeStore): void {
  describe(name, () => {
    test(
      "a batch is there whole, with its credit, its terms, its marks and what the trail says",
      withStore(make, async ({ imports, accounts, trail }) => {
        expect(await imports.bringIn(batch(7), bySystem())).toEqual({ kind: "brought" });
        const account = await accounts.account("team-7");
        expect(account).toMatchObject({
          status: "suspended",
          balance: 5_000_000,
          priceMultiplier: 1_500_000,
        });
        expect(await accounts.keys({ limit: 100, account: accountId(7) })).toEqual([
          { ...newKey(7, accountId(7)), expiresAt: undefined, revokedAt: undefined, previous: undefined },
        ]);
        expect((await accounts.grantByHash(newKey(7, ACCOUNT).hash, NOW))?.keyName).toBe("key-7");
        expect(await imports.marks("other")).toEqual([
          { kind: "account", origin: "team:7", target: accountId(7) },
          { kind: "key", origin: "key:7", target: keyId(7) },
        ]);
        expect(await imports.marks("another")).toEqual([]);
        const entries = (await trail.page({ limit: 10 })).entries.slice(0, 3).map(({ action }) => action);
        expect(entries.sort()).toEqual(["account.create", "account.suspend", "key.create"]);
      }),
    );

    test(
      "of a batch that clashes with what is there, nothing is there",
      withStore(make, async ({ imports, accounts }) => {
        await imports.bringIn(batch(7), bySystem());
        const again = {
          source: "other",
          accounts: [],
          keys: [{ origin: "key:7", key: newKey(9, accountId(7)) }],
        };
        const taken = batch(8, {
          keys: [{ origin: "k", key: newKey(8, accountId(8), { hash: newKey(7, ACCOUNT).hash }) }],
        });
        const named = batch(8, {
          keys: [
            { origin: "a", key: newKey(8, accountId(8)) },
            { origin: "b", key: newKey(9, accountId(8), { name: "key-8" }) },
          ],
        });
        expect(await imports.bringIn(again, bySystem())).toEqual({ kind: "clash", of: "key", name: "key-9" });
        expect(await imports.bringIn(taken, bySystem())).toEqual({ kind: "clash", of: "key", name: "key-8" });
        expect(await imports.bringIn(named, bySystem())).toEqual({ kind: "clash", of: "key", name: "key-8" });
        expect(await imports.bringIn(batch(7), bySystem())).toEqual({
          kind: "clash",
          of: "account",
          name: "team-7",
        });
        expect(await accounts.account("team-8")).toBeUndefined();
        expect((await accounts.keys({ limit: 100 })).map(({ name }) => name)).toEqual(["key-7"]);
        expect(await imports.marks("other")).toHaveLength(2);
      }),
    );
  });
}
