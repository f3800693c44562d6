import { expect, test } from "bun:test";
import { type Account, type ApiKey, keyStatus } from "../../../src/domain/access/account.ts";
import { OPEN_POLICY } from "../../../src/domain/access/key-policy.ts";
import { accountForm, keyForm } from "../../../src/domain/access/record-form.ts";
import type { KeyId } from "../../../src/domain/ids.ts";
import { formatAmount, toMicros } from "../../../src/domain/money/money.ts";
import { ACCOUNT, keyId, NOW } from "../../helpers/store.ts";
import { refusal, type Script, type Seen, startScriptedServer, success } from "../scripted-server.ts";
import { svc } from "../support.ts";

const QUOTA = { limit: toMicros(5_000_000), reset: "total" } as const;

const keys = [1, 2, 3].map(
  (place): Omit<ApiKey, "hash"> => ({
    ...{ id: keyId(place), accountId: ACCOUNT, name: `key ${place}`, display: "sk-svc-aaaa…bbbb" },
    ...{ policy: { ...OPEN_POLICY, quota: QUOTA }, createdAt: NOW, signsCallbacks: false },
  }),
);

const account = {
  ...{ id: ACCOUNT, name: "studio", mode: "prepaid", status: "active", balance: toMicros(0) },
  ...{ held: toMicros(0), createdAt: NOW, creditLimit: toMicros(0), priceMultiplier: 1_000_000 },
} as unknown as Account;

function quotaForm(id: KeyId, used: number) {
  const amounts = { limit: "5.000000", used: formatAmount(toMicros(used)), reserved: "0.000000" };
  const left = { remaining: formatAmount(toMicros(QUOTA.limit - used)), reset: QUOTA.reset, resets_at: null };
  return { key_id: id, key: "key", account_id: ACCOUNT, account: "studio", ...amounts, ...left };
}

/** Answers as servers did before there were pages: whole lists, and no parameter but `account`. */
function whole(data: object) {
  return ({ path }: Seen) => {
    const unknown = [...new URL(path, "http://svc").searchParams.keys()].find((name) => name !== "account");
    if (unknown === undefined) return success(data);
    const words = `Unknown field "${unknown}". This query takes account.`;
    return refusal(400, "invalid_request", words, {}, unknown);
  };
}

const OLDER: Script = {
  "GET /admin/v1/keys": whole({ keys: keys.map((key) => keyForm(key, NOW)) }),
  "GET /admin/v1/quotas": whole({ quotas: keys.map(({ id }, i) => quotaForm(id, i * 1_000_000)) }),
  [`GET /admin/v1/keys/${keyId(3)}`]: () => success(keyForm(keys[2] as ApiKey, NOW)),
  [`GET /admin/v1/accounts/${ACCOUNT}`]: () => success(accountForm(account)),
  // It passed over parameters here.
  "GET /admin/v1/accounts": () => success({ accounts: [accountForm(account)] }),
};

const idsIn = (listed: { keys: { id: string }[] }) => listed.keys.map(({ id }) => id);

async function run(url: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await svc([...args, "--json", "--server", url], {
    env: { SVC_MANAGEMENT_TOKEN: "mt-svc-test" },
  });
  expect({ exitCode, error: stderr.includes("error") }).toEqual({ exitCode: 0, error: false });
  return JSON.parse(stdout);
}

test("lists of a server without pages are read whole, and parts are taken of them", async () => {
  using server = startScriptedServer(OLDER);
  const all = await run(server.url, "keys", "list");
  expect([idsIn(all), all.next]).toEqual([keys.map(({ id }) => id), null]);
  expect(all.keys[0]).toMatchObject({ account: "studio", status: keyStatus(keys[0] as ApiKey, NOW) });
  const part = await run(server.url, "keys", "list", "--limit", "2");
  expect([idsIn(part), part.next]).toEqual([[keyId(1), keyId(2)], keyId(2)]);
  const rest = await run(server.url, "keys", "list", "--limit", "2", "--after", keyId(2));
  expect([idsIn(rest), rest.next]).toEqual([[keyId(3)], null]);
  const newest = await run(server.url, "keys", "list", "--newest-first", "--limit", "2");
  expect([idsIn(newest), newest.next]).toEqual([[keyId(3), keyId(2)], keyId(2)]);
  expect((await run(server.url, "accounts", "list", "--limit", "1")).next).toBeNull();
});

test("a list of a server that has pages in one order alone is read whole for the newest", async () => {
  const forms = keys.map((key) => ({ ...keyForm(key, NOW), account: "studio" }));
  using server = startScriptedServer({
    "GET /admin/v1/keys": ({ path }: Seen) =>
      new URL(path, "http://svc").searchParams.has("order")
        ? refusal(400, "invalid_request", "Unknown field.", {}, "order")
        : success({ keys: forms, next: null }),
  });
  const asked = ["keys", "list", "--newest-first", "--limit", "2"];
  const newest = await run(server.url, ...asked);
  expect([idsIn(newest), newest.next]).toEqual([[keyId(3), keyId(2)], keyId(2)]);
  const rest = await run(server.url, ...asked, "--after", keyId(2));
  expect([idsIn(rest), rest.next]).toEqual([[keyId(1)], null]);
});

test("the quota of one key is found among all that a server without `key_id` lists", async () => {
  using server = startScriptedServer(OLDER);
  expect((await run(server.url, "keys", "show", keyId(3))).quota_use).toMatchObject({ used: "2.000000" });
});

test("a refused part of a list of a server with pages is told", async () => {
  using server = startScriptedServer({
    "GET /admin/v1/keys": () => refusal(400, "invalid_request", "after is none.", {}, "after"),
  });
  const { exitCode, stderr } = await svc(["keys", "list", "--after", "x", "--server", server.url], {
    env: { SVC_MANAGEMENT_TOKEN: "mt-svc-test" },
  });
  expect([exitCode, stderr.includes("after is none.")]).toEqual([13, true]);
  expect(server.at("/admin/v1/keys")).toHaveLength(1);
});

test("names of accounts that come with keys are not asked for", async () => {
  const named = keys.map((key) => ({ ...keyForm(key, NOW), account: "studio" }));
  using server = startScriptedServer({
    "GET /admin/v1/keys": () => success({ keys: named, next: null }),
  });
  const { keys: listed } = await run(server.url, "keys", "list");
  expect(listed.map((key: { account: string }) => key.account)).toEqual(["studio", "studio", "studio"]);
  expect(server.seen).toHaveLength(1);
});
