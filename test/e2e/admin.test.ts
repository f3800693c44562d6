import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, createApi, type Sent } from "./support/api.ts";
import { svcJson } from "./support/command.ts";

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
    created_at: expect.any(Number),
  };
  expect(made).toEqual(expected);
  const credited = { ...made, balance: "3.750000", available: "3.750000" };
  const body = { amount: "-1.25", reason: "mistake" };
  expect(await ask("/admin/v1/accounts/shop/credit", { body })).toEqual(credited);
  expect(await ask(`/admin/v1/accounts/${made.id}`)).toEqual(credited);
  expect((await ask("/admin/v1/accounts")).accounts).toContainEqual(credited);
});

test("tokens are made, listed and revoked, and the revoked one is refused at once", async () => {
  const { token: secret, ...made } = await ask("/admin/v1/tokens", { body: { name: "ci" } });
  const other = createApi(server.url, String(secret));
  expect((await other.send("/admin/v1/tokens")).status).toBe(200);
  expect((await ask("/admin/v1/tokens")).tokens).toContainEqual(made);
  expect(await ask("/admin/v1/tokens/ci/revoke", { method: "POST" })).toMatchObject({ status: "revoked" });
  expect((await other.send("/admin/v1/tokens")).status).toBe(401);
});

test("a token revoked by another process is refused within a second", async () => {
  const other = createApi(server.url, await newToken("short-lived"));
  expect((await other.send("/admin/v1/keys")).status).toBe(200);
  await local("tokens", "revoke", "short-lived");
  const startedAt = performance.now();
  while ((await other.send("/admin/v1/keys")).status !== 401) {
    if (performance.now() - startedAt > 1_000) throw new Error("The token is still taken.");
  }
});

test("an API key opens nothing here, and is told what does", async () => {
  const api = createApi(server.url, server.firstKey());
  for (const [method, path] of [
    ["GET", "/admin/v1/keys"],
    ["POST", "/admin/v1/keys"],
    ["PATCH", "/admin/v1/keys/web"],
    ["POST", "/admin/v1/accounts/default/credit"],
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
    ["an unknown filter", "/admin/v1/keys?acount=x", {}, [400, "invalid_request", "acount"]],
    ["another method", "/admin/v1/keys", { method: "DELETE" }, [405, "method_not_allowed", undefined]],
  ])("%s", async (_, path, sent, expected) => {
    expect(problemOf(await admin.send(path, sent))).toEqual(expected);
  });

  test("and nothing of all that was kept", async () => {
    expect(await everything()).toEqual(before);
  });
});
