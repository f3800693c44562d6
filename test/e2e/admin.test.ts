import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi, type Sent } from "./support/api.ts";
import { svcJson } from "./support/command.ts";
import { untilFollowed } from "./support/follows.ts";

setDefaultTimeout(120_000);

const server: Server = await startServer();
afterAll(stopServers);

const local = (...args: string[]) => svcJson([...args, "--data-dir", server.dataDir]);
const token = await newToken("operator");
const admin = createApi(server.url, token);

async function newToken(name: string): Promise<string> {
  const made = JSON.stringify(await local("tokens", "create", "--name", name));
  const found = /mt-svc-[0-9A-Za-z]{38}/.exec(made)?.[0];
  if (found === undefined) throw new Error("No token was printed.");
  return found;
}

/** `data` of an answer that must be good. */
async function ask(path: string, sent?: Sent): Promise<Record<string, unknown>> {
  const { status, text, data } = await admin.send(path, sent);
  if (status !== 200) throw new Error(`${path} answers ${status} ${text}`);
  return { ...data };
}

const problemOf = ({ status, body }: Answer) => [status, body.data?.error_code, body.data?.param];

describe("keys", () => {
  test("are made, changed, rotated and revoked, and the service follows at once", async () => {
    const { key, ...made } = await ask("/admin/v1/keys", {
      body: { name: "web", models: ["sandbox-*"], requests_per_minute: 60, expires_at: 4_000_000_000 },
    });
    const api = createApi(server.url, String(key));
    expect((await api.send("/v1/models")).status).toBe(200);
    expect(made).toMatchObject({ name: "web", status: "active", requests_per_minute: 60, concurrency: null });

    const { account: _, ...shown } = (await local("keys", "show", "web")) as Record<string, unknown>;
    expect(await ask(`/admin/v1/keys/${made.id}`)).toEqual(shown);
    expect(made).toEqual(shown);

    const body = { allow_ips: ["203.0.113.9"], requests_per_minute: null };
    expect(await ask("/admin/v1/keys/web", { method: "PATCH", body })).toEqual({
      ...made,
      allow_ips: ["203.0.113.9/32"],
      requests_per_minute: null,
    });
    expect((await api.send("/v1/models")).status).toBe(401);
    await ask("/admin/v1/keys/web", { method: "PATCH", body: { allow_ips: null } });
    expect((await api.send("/v1/models")).status).toBe(200);

    const rotated = await ask("/admin/v1/keys/web/rotate", { body: { grace_seconds: 60 } });
    expect(rotated).toMatchObject({ id: made.id, previous: { display: made.display } });
    const next = createApi(server.url, String(rotated.key));
    expect([(await api.send("/v1/models")).status, (await next.send("/v1/models")).status]).toEqual([
      200, 200,
    ]);
    const last = createApi(
      server.url,
      String((await ask("/admin/v1/keys/web/rotate", { method: "POST" })).key),
    );
    for (const [each, status] of [
      [api, 401],
      [next, 401],
      [last, 200],
    ] as const) {
      expect((await each.send("/v1/models")).status).toBe(status);
    }

    expect(await ask("/admin/v1/keys/web/revoke", { method: "POST" })).toMatchObject({ status: "revoked" });
    expect((await last.send("/v1/models")).status).toBe(401);
  });

  test("are listed, all or of one account, and never with a secret", async () => {
    await ask("/admin/v1/accounts", { body: { name: "studio" } });
    const { id } = await ask("/admin/v1/keys", { body: { name: "of studio", account: "studio" } });
    const { keys } = await ask("/admin/v1/keys?account=studio");
    expect(keys).toMatchObject([{ id, name: "of studio" }]);
    const all = await admin.send("/admin/v1/keys");
    expect(all.text).toContain(String(id));
    expect(all.text).not.toMatch(/sk-svc-[0-9A-Za-z]{38}/);
  });
});

test("accounts are made, listed, shown and credited", async () => {
  const made = await ask("/admin/v1/accounts", { body: { name: "shop", credit: "5.00", currency: "USD" } });
  const expected = {
    id: made.id,
    name: "shop",
    mode: "prepaid",
    status: "active",
    currency: "USD",
    balance: "5.000000",
    held: "0.000000",
    available: "5.000000",
    credit_limit: "0.000000",
    price_multiplier: "1",
    low_balance: null,
    retain_outputs_seconds: null,
    retain_inputs_seconds: null,
    retain_callbacks_seconds: null,
    retain_tasks_seconds: null,
    created_at: expect.any(Number),
  };
  expect(made).toEqual(expected);
  const credited = { ...made, balance: "3.750000", available: "3.750000" };
  const body = { amount: "-1.25", reason: "mistake" };
  expect(await ask("/admin/v1/accounts/shop/credit", { body })).toEqual(credited);
  expect(await ask(`/admin/v1/accounts/${made.id}`)).toEqual(credited);
  expect((await ask("/admin/v1/accounts")).accounts).toContainEqual(credited);
});

test("the terms of an account are changed one by one, shown and taken back", async () => {
  const made = await ask("/admin/v1/accounts", { body: { name: "terms", credit: "1" } });
  const change = (body: JsonObject) => ask("/admin/v1/accounts/terms", { method: "PATCH", body });
  const changed = await change({ credit_limit: "2.5", price_multiplier: "1.25", low_balance: "0.5" });
  expect(changed).toEqual({
    ...made,
    available: "3.500000",
    credit_limit: "2.500000",
    price_multiplier: "1.25",
    low_balance: "0.500000",
  });
  expect(await change({ mode: "unlimited" })).toEqual({ ...changed, mode: "unlimited", available: null });
  const back = { mode: "prepaid", credit_limit: null, price_multiplier: null, low_balance: null };
  expect(await change(back)).toEqual(made);
});

test("an account is suspended and activated, and its keys are refused and taken at once", async () => {
  await ask("/admin/v1/accounts", { body: { name: "paused" } });
  const { key } = await ask("/admin/v1/keys", { body: { name: "paused", account: "paused" } });
  const api = createApi(server.url, String(key));
  for (const [verb, status, answer] of [
    ["suspend", "suspended", 401],
    ["activate", "active", 200],
  ] as const) {
    expect(await ask(`/admin/v1/accounts/paused/${verb}`, { method: "POST" })).toMatchObject({ status });
    expect((await api.send("/v1/models")).status).toBe(answer);
  }
});

describe("money", () => {
  const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };

  test("is refunded and read in ledger and usage, with the token as who did it", async () => {
    const { tokens } = (await local("tokens", "list")) as { tokens: { id: string; name: string }[] };
    const actor = tokens.find(({ name }) => name === "operator")?.id;
    const made = await ask("/admin/v1/accounts", { body: { name: "spender", credit: "0.05" } });
    const { key, ...shown } = await ask("/admin/v1/keys", {
      body: {
        ...{ name: "spending", account: "spender", price_multiplier: "2" },
        quota: { limit: "0.10", reset: "weekly" },
      },
    });
    expect(shown).toMatchObject({
      quota: { limit: "0.100000", reset: "weekly" },
      price_multiplier: "2",
    });
    const patch = { method: "PATCH", body: { quota: { reset: "daily" }, price_multiplier: "1.5" } };
    expect(await ask("/admin/v1/keys/spending", patch)).toMatchObject({
      quota: { limit: "0.100000", reset: "daily" },
      price_multiplier: "1.5",
    });
    const { task_id: task } = await createApi(server.url, String(key)).make({ ...IMAGE, n: 2 });
    const before = await ask("/admin/v1/accounts/spender");
    expect(before).toMatchObject({ balance: "0.020000", held: "0.000000" });

    const body = { amount: "0.01", currency: "USD", reason: "late" };
    const account = { ...before, balance: "0.030000", available: "0.030000" };
    expect(await ask(`/admin/v1/tasks/${task}/refund`, { body })).toEqual({
      ...{ task_id: task, refunded: "0.010000", currency: "USD", account },
    });
    const again = await admin.send(`/admin/v1/tasks/${task}/refund`, { body });
    expect(problemOf(again)).toEqual([400, "invalid_request", "task"]);
    expect(await ask(`/admin/v1/accounts/${made.id}`)).toEqual(account);

    const first = await ask("/admin/v1/accounts/spender/ledger?limit=3");
    const second = await ask(`/admin/v1/accounts/spender/ledger?limit=3&before=${first.next}`);
    expect([first.next, second.next]).toEqual([expect.any(String), null]);
    const rows = [first, second].flatMap(({ entries }) => entries as JsonObject[]);
    expect(rows.map((row) => [row.kind, row.balance_delta, row.balance, row.actor])).toEqual([
      ["refund", "0.010000", "0.030000", actor ?? ""],
      ["capture", "-0.030000", "0.020000", "system"],
      ["hold", "0.000000", "0.050000", String(shown.id)],
      ["credit", "0.050000", "0.050000", actor ?? ""],
    ]);
    const { entries } = (await local("ledger", "spender")) as { entries: unknown };
    expect(entries).toEqual(rows);

    const usage = await ask("/admin/v1/usage?by=key&account=spender");
    const sum = { completed: 1, failed: 0, cancelled: 0, outputs: 2, charged: "0.030000" };
    expect(usage).toMatchObject({
      rows: [{ account_id: made.id, account: "spender", key_id: shown.id, key: "spending", ...sum }],
      total: sum,
    });
    expect(await local("usage", "--by", "key", "--account", "spender")).toEqual(usage);
    const day = new Date().toISOString().slice(0, 10);
    expect(await ask(`/admin/v1/usage?since=${day}&until=${day}&account=spender`)).toMatchObject({
      ...{ by: "day", since: day, until: day, rows: [{ day, ...sum }] },
    });
  });
});

test("tokens are made, listed and revoked, and the revoked one is refused at once", async () => {
  const { token: secret, ...made } = await ask("/admin/v1/tokens", { body: { name: "ci" } });
  const other = createApi(server.url, String(secret));
  expect((await other.send("/admin/v1/tokens")).status).toBe(200);
  expect((await ask("/admin/v1/tokens")).tokens).toContainEqual({
    ...made,
    last_used_at: expect.any(Number),
  });
  expect(await ask("/admin/v1/tokens/ci/revoke", { method: "POST" })).toMatchObject({ status: "revoked" });
  expect((await other.send("/admin/v1/tokens")).status).toBe(401);
});

test("a token revoked by another process is refused within a second", async () => {
  const other = createApi(server.url, await newToken("short-lived"));
  expect((await other.send("/admin/v1/keys")).status).toBe(200);
  await local("tokens", "revoke", "short-lived", "--yes");
  await untilFollowed(
    () => other.send("/admin/v1/keys"),
    ({ status }) => status === 401,
  );
});

test("an API key opens nothing here, and is told what does", async () => {
  const api = createApi(server.url, server.firstKey());
  for (const [method, path] of [
    ["GET", "/admin/v1/keys"],
    ["POST", "/admin/v1/keys"],
    ["PATCH", "/admin/v1/keys/web"],
    ["POST", "/admin/v1/accounts/default/credit"],
    ["PATCH", "/admin/v1/accounts/default"],
    ["POST", "/admin/v1/accounts/default/suspend"],
    ["GET", "/admin/v1/accounts/default/ledger"],
    ["POST", "/admin/v1/tasks/task_1/refund"],
    ["GET", "/admin/v1/usage"],
    ["GET", "/admin/v1/overview"],
    ["POST", "/admin/v1/tokens"],
  ]) {
    const { status, body } = await api.send(path ?? "", { method: method ?? "" });
    expect([status, body.error?.code, body.error?.message]).toEqual([
      401,
      "invalid_api_key",
      "This is an API key; a management token is needed here.",
    ]);
  }
});

const everything = () => Promise.all(["keys", "accounts", "tokens"].map((group) => local(group, "list")));

describe("what cannot be done is refused in the standard envelope:", () => {
  let before: unknown[] = [];
  beforeAll(async () => {
    before = await everything();
  });

  test.each<[string, string, Sent, (string | number | undefined)[]]>([
    ["an unknown key", "/admin/v1/keys/nope", {}, [404, "not_found", undefined]],
    ["an unknown account", "/admin/v1/accounts/nope", {}, [404, "not_found", undefined]],
    ["no name", "/admin/v1/keys", { body: {} }, [400, "invalid_request", "name"]],
    [
      "a misspelt field",
      "/admin/v1/keys",
      { body: { name: "a", model: [] } },
      [400, "invalid_request", "model"],
    ],
    [
      "a limit of none",
      "/admin/v1/keys",
      { body: { name: "a", concurrency: 0 } },
      [400, "invalid_request", "concurrency"],
    ],
    [
      "a range that is none",
      "/admin/v1/keys",
      { body: { name: "a", allow_ips: ["x"] } },
      [400, "invalid_request", "allow_ips"],
    ],
    [
      "a past expiry",
      "/admin/v1/keys",
      { body: { name: "a", expires_at: 1 } },
      [400, "invalid_request", "expires_at"],
    ],
    [
      "a name as an id",
      "/admin/v1/tokens",
      { body: { name: "tok_01jd0000000000000000000000" } },
      [400, "invalid_request", "name"],
    ],
    [
      "an empty change",
      "/admin/v1/keys/default",
      { method: "PATCH", body: {} },
      [400, "invalid_request", undefined],
    ],
    [
      "a grace too long",
      "/admin/v1/keys/default/rotate",
      { body: { grace_seconds: 2_592_001 } },
      [400, "invalid_request", "grace_seconds"],
    ],
    [
      "an amount that is none",
      "/admin/v1/accounts",
      { body: { name: "a", credit: "5,00" } },
      [400, "invalid_request", "credit"],
    ],
    [
      "another currency",
      "/admin/v1/accounts",
      { body: { name: "a", currency: "EUR" } },
      [400, "invalid_request", "currency"],
    ],
    [
      "a credit limit below zero",
      "/admin/v1/accounts/default",
      { method: "PATCH", body: { credit_limit: "-1" } },
      [400, "invalid_request", "credit_limit"],
    ],
    [
      "a multiplier of nothing",
      "/admin/v1/accounts/default",
      { method: "PATCH", body: { price_multiplier: "0" } },
      [400, "invalid_request", "price_multiplier"],
    ],
    [
      "a multiplier as a number",
      "/admin/v1/keys/default",
      { method: "PATCH", body: { price_multiplier: 1.5 } },
      [400, "invalid_request", "price_multiplier"],
    ],
    [
      "no term at all",
      "/admin/v1/accounts/default",
      { method: "PATCH", body: {} },
      [400, "invalid_request", undefined],
    ],
    [
      "a quota without an amount",
      "/admin/v1/keys/default",
      { method: "PATCH", body: { quota: { reset: "daily" } } },
      [400, "invalid_request", "quota.limit"],
    ],
    [
      "a reset that is none",
      "/admin/v1/keys/default",
      { method: "PATCH", body: { quota: { limit: "1", reset: "hourly" } } },
      [400, "invalid_request", "quota.reset"],
    ],
    [
      "a refund without a reason",
      "/admin/v1/tasks/task_01jd0000000000000000000000/refund",
      { body: {} },
      [400, "invalid_request", "reason"],
    ],
    [
      "a refund for no task",
      "/admin/v1/tasks/task_01jd0000000000000000000000/refund",
      { body: { reason: "x" } },
      [404, "not_found", undefined],
    ],
    ["a page of none", "/admin/v1/accounts/default/ledger?limit=0", {}, [400, "invalid_request", "limit"]],
    ["a day that is none", "/admin/v1/usage?since=2026-02-30", {}, [400, "invalid_request", "since"]],
    ["usage by the hour", "/admin/v1/usage?by=hour", {}, [400, "invalid_request", "by"]],
    ["an unknown filter", "/admin/v1/keys?acount=x", {}, [400, "invalid_request", "acount"]],
    ["another method", "/admin/v1/keys", { method: "DELETE" }, [405, "method_not_allowed", undefined]],
  ])("%s", async (_, path, sent, expected) => {
    expect(problemOf(await admin.send(path, sent))).toEqual(expected);
  });

  test("and nothing of all that was kept", async () => {
    expect(await everything()).toEqual(before);
  });
});
