import { describe, expect, test } from "bun:test";
import type { ApiKey, ManagementToken } from "../../src/domain/access/account.ts";
import { type KeyPolicy, OPEN_POLICY } from "../../src/domain/access/key-policy.ts";
import type { SigningChange } from "../../src/domain/callback/signature.ts";
import type { AccountId, ModelId } from "../../src/domain/ids.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  byHand,
  bySystem,
  byToken,
  keyId,
  type MakeStore,
  micros,
  NOW,
  newKey,
  tokenId,
  withStore,
} from "../helpers/store.ts";

function newToken(given: Partial<ManagementToken> & { number?: number } = {}): ManagementToken {
  const { number = 1, ...fields } = given;
  return {
    id: tokenId(number),
    name: `token ${number}`,
    hash: String(number).padStart(64, "0"),
    display: "mt-svc-abcd…wxyz",
    scopes: ["read", "keys"],
    createdAt: NOW,
    ...fields,
  };
}

/** What every implementation of `AccountStore` does. `makeStore` gives an empty store each time. */
export function describeAccountStore(name: string, makeStore: MakeStore): void {
  describe(name, () => {
    describeAccounts(makeStore);
    describeKeys(makeStore);
    describeChanges(makeStore);
    describeSigning(makeStore);
    describeTokens(makeStore);
  });
}

function describeAccounts(make: MakeStore): void {
  test(
    "an account is found by id and by name, with its first credit in the ledger",
    withStore(make, async ({ accounts, ...store }) => {
      const id = accountId(2);
      await addAccount({ accounts, ...store }, { id, name: "studio", mode: "prepaid", credit: micros(5) });
      const expected = {
        id,
        name: "studio",
        mode: "prepaid",
        status: "active",
        balance: micros(5),
        held: micros(0),
        creditLimit: micros(0),
        priceMultiplier: 1_000_000,
        lowBalance: undefined,
        createdAt: NOW,
      } as const;
      expect(await accounts.account(id)).toEqual(expected);
      expect(await accounts.account("studio")).toEqual(expected);
      expect(await accounts.account("nobody")).toBeUndefined();
      expect(await accounts.ledger(id)).toMatchObject([
        { kind: "credit", balanceDelta: 5, heldDelta: 0, at: NOW, actor: "operator" },
      ]);
      expect((await accounts.accounts({ limit: 100 })).map((account) => account.id)).toEqual([ACCOUNT, id]);
    }),
  );

  test(
    "a name is taken once",
    withStore(make, async ({ accounts }) => {
      const again = {
        id: accountId(2),
        name: ACCOUNT,
        mode: "prepaid",
        credit: micros(5),
        createdAt: NOW,
      } as const;
      expect(await accounts.createAccount(again, bySystem())).toBe("name_taken");
      expect(await accounts.account(accountId(2))).toBeUndefined();
      expect(await accounts.ledger(accountId(2))).toEqual([]);
    }),
  );

  test(
    "credits and adjustments move the balance, oldest first in the ledger",
    withStore(make, async ({ accounts }) => {
      expect(await accounts.credit(ACCOUNT, micros(100), "invoice 1", byHand(NOW))).toMatchObject({
        kind: "credited",
        account: { balance: 100 },
      });
      expect(await accounts.credit(ACCOUNT, micros(-150), "mistake", byToken(NOW + 1))).toMatchObject({
        kind: "credited",
        account: { balance: -50 },
      });
      expect(await accounts.ledger(ACCOUNT)).toMatchObject([
        { kind: "credit", balanceDelta: 100, reason: "invoice 1", actor: "operator", at: NOW },
        { kind: "adjustment", balanceDelta: -150, reason: "mistake", actor: tokenId(1), at: NOW + 1 },
      ]);
      expect(await accounts.credit(accountId(9), micros(1), "nobody", byHand(NOW))).toEqual({
        kind: "not_found",
      });
    }),
  );

  test(
    "a credit with an idempotency key counts once for each account, and the key is for this credit only",
    withStore(make, async ({ accounts, ...store }) => {
      const other = accountId(2);
      await addAccount({ accounts, ...store }, { id: other, mode: "unlimited" });
      const credit = (id: AccountId, amount: number, reason: string, key: string) =>
        accounts.credit(id, micros(amount), reason, byHand(NOW), key);
      expect(await credit(ACCOUNT, 100, "invoice 1", "a")).toMatchObject({ kind: "credited" });
      expect(await credit(ACCOUNT, 100, "invoice 1", "a")).toMatchObject({
        kind: "replayed",
        account: { balance: 100 },
      });
      expect(await credit(ACCOUNT, 101, "invoice 1", "a")).toEqual({ kind: "conflict" });
      expect(await credit(ACCOUNT, 100, "invoice 2", "a")).toEqual({ kind: "conflict" });
      expect(await credit(ACCOUNT, 100, "invoice 1", "b")).toMatchObject({ account: { balance: 200 } });
      expect(await credit(other, 100, "invoice 1", "a")).toMatchObject({ account: { balance: 100 } });
      expect(await accounts.ledger(ACCOUNT)).toHaveLength(2);
    }),
  );

  test(
    "a credit that is refused leaves its idempotency key free",
    withStore(make, async ({ accounts, ...store }) => {
      const id = accountId(2);
      await addAccount({ accounts, ...store }, { id, mode: "prepaid", credit: micros(5) });
      const take = (amount: number) => accounts.credit(id, micros(amount), "fee", byHand(NOW), "a");
      expect(await take(-6)).toMatchObject({ kind: "too_low" });
      expect(await take(-5)).toMatchObject({ kind: "credited", account: { balance: 0 } });
    }),
  );

  test(
    "a credit that could not be counted any more is refused by name, and changes nothing",
    withStore(make, async ({ accounts }) => {
      await accounts.credit(ACCOUNT, micros(Number.MAX_SAFE_INTEGER), "all there is", byHand(NOW));
      expect(await accounts.credit(ACCOUNT, micros(1), "one more", byHand(NOW))).toMatchObject({
        kind: "uncountable",
        account: { balance: Number.MAX_SAFE_INTEGER },
      });
      expect(await accounts.ledger(ACCOUNT)).toHaveLength(1);
    }),
  );

  test(
    "a prepaid account is never taken below zero",
    withStore(make, async ({ accounts, ...store }) => {
      const id = accountId(2);
      await addAccount({ accounts, ...store }, { id, mode: "prepaid", credit: micros(5) });
      expect(await accounts.credit(id, micros(-6), "too much", byHand(NOW))).toMatchObject({
        kind: "too_low",
        account: { balance: 5 },
      });
      expect(await accounts.account(id)).toMatchObject({ balance: 5 });
      expect(await accounts.ledger(id)).toHaveLength(1);
      expect(await accounts.credit(id, micros(-5), "all of it", byHand(NOW))).toMatchObject({
        kind: "credited",
        account: { balance: 0 },
      });
    }),
  );
}

function describeKeys(make: MakeStore): void {
  test(
    "a key is found by id, by name and by hash",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ expiresAt: NOW + 100 });
      expect(await accounts.createKey(key, undefined, bySystem())).toBe("created");
      expect(await accounts.key(key.id)).toEqual(key);
      expect(await accounts.key("key 1")).toEqual(key);
      expect(await accounts.grantByHash(key.hash, NOW)).toEqual({
        keyId: key.id,
        keyName: "key 1",
        accountId: ACCOUNT,
        accountStatus: "active",
        policy: OPEN_POLICY,
        priceMultiplier: 1_000_000,
        expiresAt: NOW + 100,
      });
      expect(await accounts.grantByHash("f".repeat(64), NOW)).toBeUndefined();
    }),
  );

  test(
    "a name is free again once its key is revoked, and means the key that is valid",
    withStore(make, async ({ accounts }) => {
      await accounts.createKey(newKey({ number: 1, name: "web" }), undefined, bySystem());
      expect(await accounts.createKey(newKey({ number: 2, name: "web" }), undefined, bySystem())).toBe(
        "name_taken",
      );
      await accounts.revokeKey(keyId(1), NOW, bySystem());
      expect(await accounts.key("web")).toBeUndefined();
      expect(await accounts.createKey(newKey({ number: 2, name: "web" }), undefined, bySystem())).toBe(
        "created",
      );
      expect((await accounts.key("web"))?.id).toBe(keyId(2));
    }),
  );

  test(
    "accounts name their keys independently, and a name several have means none of them",
    withStore(make, async ({ accounts, ...store }) => {
      await addAccount({ accounts, ...store }, { id: accountId(2) });
      await accounts.createKey(newKey({ number: 1, name: "web" }), undefined, bySystem());
      expect(
        await accounts.createKey(
          newKey({ number: 2, name: "web", accountId: accountId(2) }),
          undefined,
          bySystem(),
        ),
      ).toBe("created");
      expect(await accounts.key("web")).toBeUndefined();
      expect((await accounts.keys({ limit: 100 })).map(({ id }) => id)).toEqual([keyId(1), keyId(2)]);
      expect((await accounts.keys({ limit: 100, account: accountId(2) })).map(({ id }) => id)).toEqual([
        keyId(2),
      ]);
    }),
  );

  test(
    "a key needs an account",
    withStore(make, async ({ accounts }) => {
      expect(await accounts.createKey(newKey({ accountId: accountId(9) }), undefined, bySystem())).toBe(
        "no_account",
      );
    }),
  );

  test(
    "a revocation shows at once in the grant that was seen before",
    withStore(make, async ({ accounts }) => {
      const key = newKey();
      await accounts.createKey(key, undefined, bySystem());
      expect((await accounts.grantByHash(key.hash, NOW))?.revokedAt).toBeUndefined();
      expect(await accounts.revokeKey(key.id, NOW + 1, bySystem())).toBe("revoked");
      expect((await accounts.grantByHash(key.hash, NOW))?.revokedAt).toBe(NOW + 1);
      expect(await accounts.revokeKey(key.id, NOW + 2, bySystem())).toBe("already_revoked");
      expect((await accounts.key(key.id))?.revokedAt).toBe(NOW + 1);
      expect(await accounts.revokeKey(keyId(9), NOW, bySystem())).toBe("not_found");
    }),
  );

  test(
    "a hash that was unknown is found once its key exists",
    withStore(make, async ({ accounts }) => {
      const key = newKey();
      expect(await accounts.grantByHash(key.hash, NOW)).toBeUndefined();
      await accounts.createKey(key, undefined, bySystem());
      expect((await accounts.grantByHash(key.hash, NOW))?.keyId).toBe(key.id);
    }),
  );
}

const POLICY: KeyPolicy = {
  models: ["sandbox-*"],
  features: ["images"],
  allowIps: ["10.0.0.0/8"],
  requestsPerMinute: 60,
  concurrency: 4,
  aliases: { painter: "sandbox-image" as ModelId },
  responseFormat: "url",
  syncWaitSec: 30,
};

function describeChanges(make: MakeStore): void {
  test(
    "a key keeps its whole policy, in the grant too",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ policy: POLICY });
      await accounts.createKey(key, undefined, bySystem());
      expect(await accounts.key(key.id)).toEqual(key);
      expect((await accounts.grantByHash(key.hash, NOW))?.policy).toEqual(POLICY);
    }),
  );

  test(
    "a change touches what it gives alone, and shows at once in the grant that was seen before",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ policy: POLICY, expiresAt: NOW + 100 });
      await accounts.createKey(key, undefined, bySystem());
      await accounts.grantByHash(key.hash, NOW);
      const { models: _, ...rest } = POLICY;
      const expected = { ...key, policy: { ...rest, concurrency: 9 } };
      expect(
        await accounts.changeKey(key.id, { policy: { models: null, concurrency: 9 } }, bySystem()),
      ).toEqual(expected);
      expect(await accounts.key(key.id)).toEqual(expected);
      expect(await accounts.grantByHash(key.hash, NOW)).toMatchObject({
        policy: expected.policy,
        expiresAt: NOW + 100,
      });
      expect(await accounts.changeKey(key.id, { policy: {}, expiresAt: null }, bySystem())).toEqual({
        ...expected,
        expiresAt: undefined,
      });
      expect((await accounts.grantByHash(key.hash, NOW))?.expiresAt).toBeUndefined();
    }),
  );

  test(
    "changes at the same time are all kept",
    withStore(make, async ({ accounts }) => {
      const { id } = newKey();
      await accounts.createKey(newKey(), undefined, bySystem());
      await Promise.all([
        accounts.changeKey(id, { policy: { concurrency: 1 } }, bySystem()),
        accounts.changeKey(id, { policy: { requestsPerMinute: 2 } }, bySystem()),
        accounts.changeKey(id, { policy: {}, expiresAt: NOW + 3 }, bySystem()),
      ]);
      expect(await accounts.key(id)).toMatchObject({
        policy: { concurrency: 1, requestsPerMinute: 2 },
        expiresAt: NOW + 3,
      });
    }),
  );

  test(
    "a revoked or unknown key is neither changed nor rotated",
    withStore(make, async ({ accounts }) => {
      const key = newKey();
      await accounts.createKey(key, undefined, bySystem());
      await accounts.revokeKey(key.id, NOW, bySystem());
      expect(await accounts.changeKey(key.id, { policy: POLICY }, bySystem())).toBe("revoked");
      expect(await accounts.rotateKey(key.id, { hash: "b".repeat(64), display: "new" }, bySystem())).toBe(
        "revoked",
      );
      expect(await accounts.key(key.id)).toEqual({ ...key, revokedAt: NOW });
      expect(await accounts.changeKey(keyId(9), { policy: {} }, bySystem())).toBe("not_found");
      expect(await accounts.rotateKey(keyId(9), { hash: "b".repeat(64), display: "new" }, bySystem())).toBe(
        "not_found",
      );
    }),
  );

  test(
    "without a grace only the new secret opens a rotated key, at once",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ policy: POLICY });
      await accounts.createKey(key, undefined, bySystem());
      await accounts.grantByHash(key.hash, NOW);
      const secret = { hash: "b".repeat(64), display: "new" };
      const expected = { ...key, ...secret, previous: undefined };
      expect(await accounts.rotateKey(key.id, secret, bySystem())).toEqual(expected);
      expect(await accounts.grantByHash(key.hash, NOW)).toBeUndefined();
      expect(await accounts.grantByHash(secret.hash, NOW)).toMatchObject({ keyId: key.id, policy: POLICY });
    }),
  );

  test(
    "within the grace both secrets open a rotated key, the old one until the grace or the key ends",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ expiresAt: NOW + 100 });
      await accounts.createKey(key, undefined, bySystem());
      const secret = { hash: "b".repeat(64), display: "new" };
      expect(
        await accounts.rotateKey(key.id, { ...secret, previousExpiresAt: NOW + 50 }, bySystem()),
      ).toEqual({
        ...key,
        ...secret,
        previous: { display: key.display, expiresAt: NOW + 50 },
      });
      expect((await accounts.grantByHash(key.hash, NOW))?.expiresAt).toBe(NOW + 50);
      expect((await accounts.grantByHash(secret.hash, NOW))?.expiresAt).toBe(NOW + 100);
      await accounts.changeKey(key.id, { policy: {}, expiresAt: NOW + 10 }, bySystem());
      expect((await accounts.grantByHash(key.hash, NOW))?.expiresAt).toBe(NOW + 10);
    }),
  );

  test(
    "a second rotation ends the grace of the first, and a revocation ends every secret",
    withStore(make, async ({ accounts }) => {
      const key = newKey();
      await accounts.createKey(key, undefined, bySystem());
      const [b, c] = ["b".repeat(64), "c".repeat(64)];
      await accounts.rotateKey(key.id, { hash: b, display: "b", previousExpiresAt: NOW + 50 }, bySystem());
      await accounts.rotateKey(key.id, { hash: c, display: "c", previousExpiresAt: NOW + 90 }, bySystem());
      expect(await accounts.grantByHash(key.hash, NOW)).toBeUndefined();
      expect((await accounts.grantByHash(b, NOW))?.expiresAt).toBe(NOW + 90);
      await accounts.revokeKey(key.id, NOW + 1, bySystem());
      const revoked = await Promise.all(
        [b, c].map(async (hash) => (await accounts.grantByHash(hash, NOW))?.revokedAt),
      );
      expect(revoked).toEqual([NOW + 1, NOW + 1]);
    }),
  );
}

function describeSigning(make: MakeStore): void {
  const [a, b] = [`whsec_${"A".repeat(32)}`, `whsec_${"B".repeat(32)}`];

  test(
    "a callback secret is told by its one method alone, and the key says only that there is one",
    withStore(make, async ({ accounts }) => {
      const key = newKey({ signsCallbacks: true });
      await accounts.createKey(key, a, bySystem());
      await accounts.createKey(newKey({ number: 2 }), undefined, bySystem());
      expect(await accounts.callbackSecret(key.id)).toBe(a);
      expect(await accounts.callbackSecret(keyId(2))).toBeUndefined();
      expect(await accounts.callbackSecret(keyId(9))).toBeUndefined();
      expect(await accounts.key(key.id)).toEqual(key);
      const seen = [await accounts.keys({ limit: 100 }), await accounts.grantByHash(key.hash, NOW)];
      expect(JSON.stringify(seen)).not.toContain("whsec_");
    }),
  );

  test(
    "a callback secret is set, replaced and ended by a change, and by no other change",
    withStore(make, async ({ accounts }) => {
      const { id } = newKey();
      await accounts.createKey(newKey(), undefined, bySystem());
      const after = async (signing?: SigningChange | null) => {
        const changed = await accounts.changeKey(id, { policy: {}, signing }, bySystem());
        expect(await accounts.key(id)).toEqual(changed as ApiKey);
        return [(changed as ApiKey).signsCallbacks, await accounts.callbackSecret(id)];
      };
      expect(await after({ secret: a, previousUntil: NOW + 50 })).toEqual([true, a]);
      expect(await after()).toEqual([true, a]);
      expect(await after({ secret: b, previousUntil: NOW + 50 })).toEqual([true, `${b} ${a} ${NOW + 50}`]);
      await accounts.rotateKey(id, { hash: "b".repeat(64), display: "new" }, bySystem());
      expect(await after()).toEqual([true, `${b} ${a} ${NOW + 50}`]);
      expect(await after({ secret: b })).toEqual([true, b]);
      expect(await after(null)).toEqual([false, undefined]);
    }),
  );

  test(
    "a revoked key keeps its callback secret, for its callbacks may still be due",
    withStore(make, async ({ accounts }) => {
      const { id } = newKey();
      await accounts.createKey(newKey({ signsCallbacks: true }), a, bySystem());
      await accounts.revokeKey(id, NOW, bySystem());
      expect(await accounts.changeKey(id, { policy: {}, signing: null }, bySystem())).toBe("revoked");
      expect(await accounts.callbackSecret(id)).toBe(a);
    }),
  );
}

function describeTokens(make: MakeStore): void {
  test(
    "management tokens are created, found, listed and revoked",
    withStore(make, async ({ accounts }) => {
      const token = newToken();
      expect(await accounts.createToken(token, bySystem())).toBe("created");
      expect(await accounts.createToken(newToken({ number: 2, name: token.name }), bySystem())).toBe(
        "name_taken",
      );
      expect(await accounts.token(token.id)).toEqual(token);
      expect(await accounts.token(token.name)).toEqual(token);
      expect(await accounts.tokens({ limit: 100 })).toEqual([token]);
      expect(await accounts.tokenByHash(token.hash, NOW)).toEqual(token);
      expect(await accounts.tokenByHash("f".repeat(64), NOW)).toBeUndefined();
      await accounts.tokenUsed(token.id, NOW + 1);
      expect(await accounts.token(token.id)).toEqual({ ...token, lastUsedAt: NOW + 1 });
      expect(await accounts.revokeToken(token.id, NOW + 1, bySystem())).toBe("revoked");
      expect(await accounts.revokeToken(token.id, NOW + 2, bySystem())).toBe("already_revoked");
      expect(await accounts.revokeToken(tokenId(9), NOW, bySystem())).toBe("not_found");
      expect(await accounts.token(token.id)).toEqual({
        ...token,
        lastUsedAt: NOW + 1,
        revokedAt: NOW + 1,
      });
      expect((await accounts.tokenByHash(token.hash, NOW))?.revokedAt).toBe(NOW + 1);
      expect(await accounts.token(token.name)).toBeUndefined();
      const other = newToken({ number: 2, name: token.name, expiresAt: NOW + 5 });
      expect(await accounts.createToken(other, bySystem())).toBe("created");
      expect(await accounts.tokenByHash(other.hash, NOW)).toEqual(other);
    }),
  );
}
