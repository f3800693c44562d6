import { afterEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../src/domain/access/actor.ts";
import { displayOf, parseCredential } from "../../src/domain/access/credential.ts";
import { isSigningSecret, signingSecretsAt } from "../../src/domain/callback/signature.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { IdByPrefix, IdPrefix } from "../../src/domain/ids.ts";
import type { ListSlice } from "../../src/domain/lists.ts";
import { toMicros, ZERO } from "../../src/domain/money/money.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { createManageAccounts } from "../../src/service/manage-account.ts";
import { openEmptyStore } from "../helpers/open-store.ts";

import { fakeSecrets } from "../helpers/secrets.ts";
import { tokenId } from "../helpers/store.ts";

const NOW = 1_700_000_000_000;
/** Why money moves, in these tests. */
const BY_HAND = { reason: "invoice 12" };

const BY_TOKEN: Actor = {
  kind: "token",
  tokenId: tokenId(1),
  tokenName: "console",
  scopes: ["read", "system"],
  expiresAt: NOW + 1_000,
};

/** What is in a part of a list. */
async function itemsOf<Item>(slices: AsyncIterable<ListSlice<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const { items } of slices) all.push(...items);
  return all;
}

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function setup() {
  const store = openEmptyStore();
  stops.push(store.stop);
  const { accounts, usage, sessions } = store;
  let count = 0;
  const deps = {
    accounts,
    usage,
    charges: usage,
    sessions,
    addresses: createAddresses(),
    clock: { now: () => NOW },
    ids: { create: <P extends IdPrefix>(prefix: P) => fakeId(prefix, ++count) },
    secrets: fakeSecrets({
      newBody: () => String(++count).padStart(32, "0"),
      hash: (text) => `hash of ${text}`,
    }),
  };
  const manageAs = (actor: Actor) => createManageAccounts({ ...deps, actor });
  return { manage: manageAs({ kind: "local", name: "root" }), manageAs, accounts };
}

describe("accounts", () => {
  test("start prepaid with the credit they are given", async () => {
    const { manage } = setup();
    const account = await manage.createAccount({ name: "web", credit: toMicros(5_000_000) });
    expect(account).toMatchObject({
      name: "web",
      mode: "prepaid",
      status: "active",
      balance: 5_000_000,
      createdAt: NOW,
    });
    expect(await itemsOf(manage.listAccounts())).toEqual([account]);
    expect((await manage.createAccount({ name: "free", mode: "unlimited" })).balance).toBe(ZERO);
  });

  test("take credits by id or by name, and keep them in the ledger", async () => {
    const { manage, manageAs } = setup();
    const { id } = await manage.createAccount({ name: "web" });
    await manage.creditAccount("web", toMicros(3), BY_HAND);
    const mistake = { reason: "mistake" };
    expect(await manageAs(BY_TOKEN).creditAccount(id, toMicros(-1), mistake)).toMatchObject({
      id,
      balance: 2,
    });
    const { account, rows } = await manage.readLedger("web", { limit: 9 });
    expect(account.balance).toBe(toMicros(2));
    expect(rows.map(({ reason, actor }) => [reason, actor])).toEqual([
      ["mistake", tokenId(1)],
      ["invoice 12", "operator"],
    ]);
  });

  test("refuse credits that mean nothing", async () => {
    const { manage } = setup();
    await manage.createAccount({ name: "web" });
    expect(await refusal(manage.creditAccount("web", ZERO, BY_HAND))).toEqual([
      "invalid_request",
      "An amount of zero changes nothing.",
    ]);
    expect(await refusal(manage.creditAccount("no", toMicros(1), BY_HAND))).toEqual([
      "not_found",
      'There is no account "no".',
    ]);
    expect(await refusal(manage.createAccount({ name: "debt", credit: toMicros(-1) }))).toEqual([
      "invalid_request",
      "An account starts with nothing or a credit, not with -0.000001.",
    ]);
  });

  test("have one name each", async () => {
    const { manage } = setup();
    await manage.createAccount({ name: "web" });
    expect(await refusal(manage.createAccount({ name: "web" }))).toEqual([
      "invalid_request",
      'There is an account named "web" already.',
    ]);
  });
});

describe("names", () => {
  test("may have 1 to 100 characters of any script", async () => {
    const { manage } = setup();
    for (const name of ["a", "ключ для сайта", "🙂".repeat(100)]) {
      expect((await manage.createKey({ name })).record.name).toBe(name);
    }
  });

  test.each([[""], ["x".repeat(101)], ["🙂".repeat(101)], [" x"], ["x "], ["a\nb"], ["a\u0000"], ["\ud800"]])(
    "may not be %p",
    async (name) => {
      const { manage } = setup();
      for (const attempt of [
        manage.createAccount({ name }),
        manage.createKey({ name }),
        manage.createToken({ name }),
      ]) {
        expect((await refusal(attempt))[0]).toBe("invalid_request");
      }
    },
  );

  test("may not have the form of an id", async () => {
    const { manage } = setup();
    expect((await refusal(manage.createKey({ name: fakeId("key", 7) })))[0]).toBe("invalid_request");
  });
});

describe("keys", () => {
  test("are shown once, and kept only as hash and display", async () => {
    const { manage, accounts } = setup();
    const { key, record, account } = await manage.createKey({ name: "web" });
    expect(parseCredential(key)).toEqual({ kind: "api_key" });
    expect(record).toEqual({
      id: record.id,
      accountId: account.id,
      name: "web",
      hash: `hash of ${key}`,
      display: displayOf(key),
      policy: {},
      signsCallbacks: false,
      createdAt: NOW,
      expiresAt: undefined,
    });
    expect(await accounts.keys({ limit: 100 })).toEqual([record]);
    expect(await manage.showKey("web")).toEqual(record);
  });

  test("belong to the account that is named, else to an unlimited default one", async () => {
    const { manage } = setup();
    const web = await manage.createAccount({ name: "web" });
    expect((await manage.createKey({ name: "a", account: "web" })).account.id).toBe(web.id);
    const first = await manage.createKey({ name: "a" });
    expect(first.account).toMatchObject({ name: "default", mode: "unlimited" });
    expect((await manage.createKey({ name: "b" })).account.id).toBe(first.account.id);
    expect((await itemsOf(manage.listKeys({ account: "web" }))).map(({ name }) => name)).toEqual(["a"]);
    expect(await itemsOf(manage.listKeys())).toHaveLength(3);
    expect((await refusal(manage.createKey({ name: "c", account: "nobody" })))[0]).toBe("not_found");
  });

  test("cannot have the name of another valid key of the account, but of a revoked one", async () => {
    const { manage } = setup();
    await manage.createKey({ name: "web" });
    expect((await refusal(manage.createKey({ name: "web" })))[0]).toBe("invalid_request");
    await manage.revokeKey("web");
    expect((await manage.createKey({ name: "web" })).record.name).toBe("web");
  });

  test("can be revoked, and again without harm", async () => {
    const { manage } = setup();
    const { record } = await manage.createKey({ name: "web" });
    const revoked = await manage.revokeKey("web");
    expect(revoked).toEqual({ ...record, revokedAt: NOW });
    expect(await manage.revokeKey(record.id)).toEqual(revoked);
  });

  test("that cannot be told apart by name are named by their ids", async () => {
    const { manage } = setup();
    await manage.createAccount({ name: "other" });
    const one = await manage.createKey({ name: "web" });
    const two = await manage.createKey({ name: "web", account: "other" });
    const [code, message] = await refusal(manage.revokeKey("web"));
    expect(code).toBe("invalid_request");
    expect(message).toContain(`${one.record.id}, ${two.record.id}`);
    await manage.revokeKey(one.record.id);
    expect((await manage.showKey("web")).id).toBe(two.record.id);
  });

  test("that do not exist, or are all revoked, are not found", async () => {
    const { manage } = setup();
    const { record } = await manage.createKey({ name: "web" });
    await manage.revokeKey("web");
    expect(await refusal(manage.showKey("nope"))).toEqual(["not_found", 'There is no key "nope".']);
    expect((await refusal(manage.showKey("web")))[1]).toContain(record.id);
  });
});

describe("the first key", () => {
  const keeperOf = (keep: (secret: string) => void) => ({ keep, drop: () => {}, kept: () => undefined });

  test("is made with an unlimited account on an empty installation, and never again", async () => {
    const { manage } = setup();
    const kept: string[] = [];
    const first = await manage.ensureFirstKey(keeperOf((secret) => kept.push(secret)));
    expect(first?.record).toMatchObject({ name: "default" });
    expect(await manage.readAccount("default")).toMatchObject({ mode: "unlimited" });
    expect([first?.key]).toEqual(kept);
    expect(await manage.ensureFirstKey()).toBeUndefined();
    await manage.revokeKey("default");
    expect(await manage.ensureFirstKey()).toBeUndefined();
  });

  test("whose secret cannot be kept is not stored, and neither is its account", async () => {
    const { manage } = setup();
    const full = () => {
      throw new Error("no room");
    };
    expect(manage.ensureFirstKey(keeperOf(full))).rejects.toThrow("no room");
    expect([await itemsOf(manage.listAccounts()), await itemsOf(manage.listKeys())]).toEqual([[], []]);
  });

  test("is forgotten where another node made one at that moment", async () => {
    const { manage } = setup();
    let kept: string | undefined;
    const first = await manage.ensureFirstKey({
      ...keeperOf((secret) => {
        kept = secret;
        // Nothing has been written yet, so this comes first.
        void manage.createAccount({ name: "web" });
      }),
      drop: () => (kept = undefined),
    });
    expect([first, kept]).toEqual([undefined, undefined]);
  });

  test("that waits from an earlier start is known to be good or of no use", async () => {
    const { manage } = setup();
    const first = await manage.ensureFirstKey();
    const kept = (secret?: string) => manage.isKeptKeyGood({ ...keeperOf(() => 0), kept: () => secret });
    expect(await Promise.all([kept(first?.key), kept(), kept(`${first?.key}x`)])).toEqual([
      true,
      true,
      false,
    ]);
    await manage.revokeKey("default");
    expect(await kept(first?.key)).toBe(false);
  });

  test("is not made where somebody has begun otherwise", async () => {
    const { manage } = setup();
    await manage.createAccount({ name: "web" });
    expect(await manage.ensureFirstKey()).toBeUndefined();
  });
});

describe("a key's limits", () => {
  test("are kept with it from the start", async () => {
    const { manage } = setup();
    const limits = { models: ["sandbox-*"], requestsPerMinute: 60, concurrency: 4 };
    const { record } = await manage.createKey({ name: "web", ...limits, expiresAt: NOW + 1 });
    expect(record).toMatchObject({ policy: limits, expiresAt: NOW + 1 });
    expect(await manage.showKey("web")).toEqual(record);
  });

  test("that cannot be make neither a key nor the default account", async () => {
    const { manage } = setup();
    expect((await refusal(manage.createKey({ name: "web", concurrency: 0 })))[0]).toBe("invalid_request");
    expect(await itemsOf(manage.listAccounts())).toEqual([]);
  });

  test("change one by one, and are lifted one by one", async () => {
    const { manage } = setup();
    await manage.createKey({ name: "web", requestsPerMinute: 60, concurrency: 4, expiresAt: NOW + 1 });
    const changed = await manage.updateKey("web", { concurrency: 9, expiresAt: null });
    expect(changed.record).toMatchObject({
      policy: { requestsPerMinute: 60, concurrency: 9 },
      expiresAt: undefined,
    });
    const { record } = await manage.updateKey("web", { requestsPerMinute: null });
    expect(record.policy).toEqual({ concurrency: 9 });
  });

  test("of a revoked or unknown key cannot be changed", async () => {
    const { manage } = setup();
    const { record } = await manage.createKey({ name: "web" });
    await manage.revokeKey("web");
    expect(await refusal(manage.updateKey(record.id, { concurrency: 9 }))).toEqual([
      "invalid_request",
      `The key "${record.id}" is revoked, which is for good; make another one.`,
    ]);
    expect((await refusal(manage.updateKey("nope", {})))[0]).toBe("not_found");
  });
});

describe("the callback secret of a key", () => {
  const GIVEN = `whsec_${"B".repeat(32)}`;

  test("is told once where it was made, and never where it was given", async () => {
    const { manage, accounts } = setup();
    const made = await manage.createKey({ name: "web", callbackSecret: "new" });
    expect(isSigningSecret(made.callbackSecret ?? "")).toBe(true);
    expect(await accounts.callbackSecret(made.record.id)).toBe(made.callbackSecret);
    expect(made.record.signsCallbacks).toBe(true);
    expect(JSON.stringify([await itemsOf(manage.listKeys()), await manage.showKey("web")])).not.toContain(
      "whsec_",
    );

    const changed = await manage.updateKey("web", { callbackSecret: GIVEN });
    expect(changed).toEqual({ record: made.record, callbackSecret: undefined });
    expect(await accounts.callbackSecret(made.record.id)).toBe(GIVEN);
  });

  test("stays as it is when limits change or the key is rotated, and ends when that is asked for", async () => {
    const { manage, accounts } = setup();
    const { record } = await manage.createKey({ name: "web", callbackSecret: GIVEN });
    expect((await manage.updateKey("web", { concurrency: 4 })).record.signsCallbacks).toBe(true);
    expect((await manage.rotateKey("web")).record.signsCallbacks).toBe(true);
    expect(await accounts.callbackSecret(record.id)).toBe(GIVEN);
    expect((await manage.updateKey("web", { callbackSecret: null })).record.signsCallbacks).toBe(false);
    expect(await accounts.callbackSecret(record.id)).toBeUndefined();
  });

  test("that is replaced signs too for the grace that is asked for", async () => {
    const { manage, accounts } = setup();
    const { record, callbackSecret: old } = await manage.createKey({ name: "web", callbackSecret: "new" });
    await manage.updateKey("web", { callbackSecret: GIVEN, callbackSecretGraceMs: 60_000 });
    const kept = String(await accounts.callbackSecret(record.id));
    expect(signingSecretsAt(kept, NOW + 59_999)).toEqual([GIVEN, String(old)]);
    expect(signingSecretsAt(kept, NOW + 60_000)).toEqual([GIVEN]);
  });
});

describe("rotating a key", () => {
  test("gives it another secret, shown once, and keeps its id, name and limits", async () => {
    const { manage } = setup();
    const first = await manage.createKey({ name: "web", concurrency: 4 });
    const { key, record, account } = await manage.rotateKey("web");
    expect(parseCredential(key)).toEqual({ kind: "api_key" });
    expect(key).not.toBe(first.key);
    expect(account).toEqual(first.account);
    expect(record).toEqual({
      ...first.record,
      hash: `hash of ${key}`,
      display: displayOf(key),
      previous: undefined,
    });
  });

  test("keeps the old secret for the grace that is asked for", async () => {
    const { manage } = setup();
    const first = await manage.createKey({ name: "web" });
    const { record } = await manage.rotateKey("web", { graceMs: 60_000 });
    expect(record.previous).toEqual({ display: first.record.display, expiresAt: NOW + 60_000 });
  });

  test.each([[-1], [0.5], [30 * 86_400_000 + 1], [Number.NaN]])(
    "takes no grace of %p ms",
    async (graceMs) => {
      const { manage } = setup();
      const { record } = await manage.createKey({ name: "web" });
      expect((await refusal(manage.rotateKey("web", { graceMs })))[0]).toBe("invalid_request");
      expect(await manage.showKey("web")).toEqual(record);
    },
  );
});

describe("tokens", () => {
  test("are made, listed, revoked, and told from keys", async () => {
    const { manage } = setup();
    const { token, record } = await manage.createToken({ name: "ci" });
    expect(parseCredential(token)).toEqual({ kind: "management_token" });
    expect(await itemsOf(manage.listTokens())).toEqual([record]);
    expect((await refusal(manage.createToken({ name: "ci" })))[0]).toBe("invalid_request");
    expect(await manage.revokeToken("ci")).toEqual({ ...record, revokedAt: NOW });
    expect((await refusal(manage.revokeToken("ci")))[0]).toBe("not_found");
  });
});

async function refusal(attempt: Promise<unknown>): Promise<[code: string, message: string]> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return [error.code, error.message];
  throw new Error(`Expected an AppError, got ${String(error)}`);
}

function fakeId<P extends IdPrefix>(prefix: P, number: number): IdByPrefix[P] {
  return `${prefix}_${String(number).padStart(26, "0")}` as string as IdByPrefix[P];
}
