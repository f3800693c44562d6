import { afterAll, beforeAll, expect, test } from "bun:test";
import { ALL_SCOPES, type Scope } from "../../src/domain/access/token-terms.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { scopeOf } from "../../src/http/admin/scopes.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
/** A token for each scope, with that scope alone. */
const tokens = new Map<Scope, string>();

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly scopes: readonly string[];
}

beforeAll(async () => {
  service = await startPublished();
  for (const scope of ALL_SCOPES) {
    const { data } = await send("POST", "/admin/v1/tokens", service.token, { name: scope, scopes: [scope] });
    tokens.set(scope, String(data.token));
  }
});

afterAll(() => service.stop());

async function send(method: string, path: string, credential: string, body?: JsonObject) {
  const ended = new AbortController();
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${credential}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: ended.signal,
    keepalive: false,
  });
  // Streams, and metrics, are no JSON.
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const answer: unknown = isJson ? await response.json() : {};
  if (!isJson) ended.abort();
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
  const message = isJsonObject(answer) ? String(answer.message) : "";
  return { status: response.status, data, message };
}

/** Every endpoint of the document that takes a management token. */
function managedOperations(): Operation[] {
  return Object.entries(service.document.paths as Record<string, JsonObject>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const [way] = (operation as { security?: JsonObject[] }).security ?? [];
      const scopes = way?.managementToken as string[] | undefined;
      return scopes === undefined ? [] : [{ method: method.toUpperCase(), path, scopes }];
    }),
  );
}

/** A path whose records are not there, so that nothing is changed. */
const nowhere = (path: string) => path.replace(/\{\w+\}/g, "none");

test("every endpoint below /admin/v1 takes tokens alone, and all but one of them have one scope", () => {
  const all = Object.entries(service.document.paths as Record<string, JsonObject>).flatMap(([path, item]) =>
    path.startsWith("/admin/") ? Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`) : [],
  );
  const managed = managedOperations().filter(({ path }) => path.startsWith("/admin/"));
  expect(managed.map(({ method, path }) => `${method} ${path}`)).toEqual(all);
  expect(managed.filter(({ scopes }) => scopes.length !== 1).map(({ path }) => path)).toEqual([
    "/admin/v1/token",
  ]);
});

test("what changes something needs more than read, and what does not needs read", () => {
  const writing = managedOperations().filter(({ method }) => method !== "GET");
  const harmless = writing.filter(({ scopes }) => scopes.includes("read")).map(({ path }) => path);
  expect(harmless.toSorted()).toEqual([
    "/admin/v1/models/check",
    "/admin/v1/pricing/{model}/quote",
    "/admin/v1/routes/explain",
  ]);
  const reading = managedOperations().filter(({ method }) => method === "GET");
  expect(reading.flatMap(({ scopes }) => scopes).filter((scope) => scope !== "read")).toEqual([]);
});

test("a token without the scope of an endpoint gets 403 that names it, and one with it does not", async () => {
  for (const { method, path, scopes } of managedOperations()) {
    for (const [scope, token] of tokens) {
      const { status, data, message } = await send(method, nowhere(path), token);
      const what = `${method} ${path} with ${scope}: ${status} ${message}`;
      if (scopes.includes(scope) || scopes.length === 0) {
        expect([401, 403].includes(status), what).toBe(false);
        continue;
      }
      expect([status, data.error_code], what).toEqual([403, "permission_denied"]);
      expect(message).toBe(
        `This needs a management token with the scope "${scopes[0]}"; this one has ${scope}.`,
      );
    }
  }
});

test("an API key opens no endpoint for tokens, and a token none for keys", async () => {
  for (const { method, path } of managedOperations())
    expect((await send(method, nowhere(path), service.key)).status).toBe(401);
  for (const [, token] of tokens) {
    expect((await send("GET", "/v1/models", token)).status).toBe(401);
    expect((await send("POST", "/v1/images/generations", token, {})).status).toBe(401);
  }
});

test("a token is told what it is, whatever it may do", async () => {
  const { status, data } = await send("GET", "/admin/v1/token", tokens.get("money") ?? "");
  expect([status, data.name, data.scopes, data.status]).toEqual([200, "money", ["money"], "active"]);
});

test("a token makes none that may do more, or live longer, than itself", async () => {
  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  const asked = { name: "maker", scopes: ["system", "read"], expires_at: expiresAt };
  const maker = String((await send("POST", "/admin/v1/tokens", service.token, asked)).data.token);
  const make = (body: JsonObject) => send("POST", "/admin/v1/tokens", maker, body);

  const more = await make({ name: "more", scopes: ["read", "money"] });
  expect([more.status, more.data.error_code, more.data.param]).toEqual([403, "permission_denied", "scopes"]);
  for (const expires_at of [expiresAt + 1, null]) {
    const longer = await make({ name: "longer", scopes: ["read"], expires_at });
    expect([longer.status, longer.data.param]).toEqual([403, "expires_at"]);
  }
  const same = await make({ name: "same" });
  expect(same.data).toMatchObject({ scopes: ["read", "system"], expires_at: expiresAt });
  const less = await make({ name: "less", scopes: ["read"], expires_at: expiresAt - 60 });
  expect(less.data).toMatchObject({ scopes: ["read"], expires_at: expiresAt - 60 });
  const { data } = await send("GET", "/admin/v1/tokens", service.token);
  const names = (data.tokens as JsonObject[]).map(({ name }) => name);
  expect(names).not.toContain("more");
  expect(names).not.toContain("longer");
});

test.each([
  ["unknown scopes", { scopes: ["everything"] }, "scopes[0]"],
  ["no scopes", { scopes: [] }, "scopes"],
  ["scopes that are no list", { scopes: "read" }, "scopes"],
  ["null scopes", { scopes: null }, "scopes"],
  ["an expiry that has passed", { expires_at: 1_000_000_000 }, "expires_at"],
  ["an expiry that is no time", { expires_at: "soon" }, "expires_at"],
])("a token with %s is refused", async (_, terms, param) => {
  const { status, data } = await send("POST", "/admin/v1/tokens", service.token, { name: "x", ...terms });
  expect([status, data.param]).toEqual([400, param]);
});

test("a key's price is set by a token for money alone", async () => {
  const keys = tokens.get("keys") ?? "";
  const named = { name: "cheap", price_multiplier: "0.1" };
  const refused = await send("POST", "/admin/v1/keys", keys, named);
  expect([refused.status, refused.message.includes('"money"')]).toEqual([403, true]);
  const made = await send("POST", "/admin/v1/keys", keys, { name: "dear" });
  expect(made.status).toBe(200);
  const changed = await send("PATCH", "/admin/v1/keys/dear", keys, { price_multiplier: null });
  expect(changed.status).toBe(403);
});

test("when a token was taken last is known to the minute, and a token that waits to be used has no such time", async () => {
  const { data } = await send("POST", "/admin/v1/tokens", service.token, { name: "idle" });
  expect(data.last_used_at).toBeNull();
  await send("GET", "/admin/v1/token", service.token);
  const own = await send("GET", "/admin/v1/token", service.token);
  expect(Math.abs(Number(own.data.last_used_at) - Date.now() / 1000)).toBeLessThan(61);
});

test("an endpoint without a scope cannot be made", () => {
  expect(() => scopeOf("POST", "/admin/v1/anything")).toThrow(
    "POST /admin/v1/anything has no scope: name one in src/http/admin/scopes.ts.",
  );
});

test("a key makes no account that is missing, which would be unlimited, unless its maker may give money away", async () => {
  const key = (scope: Scope) => send("POST", "/admin/v1/keys", tokens.get(scope) ?? "", { name: "new" });
  const { data } = await send("GET", "/admin/v1/accounts/default", service.token);
  const confirm = String(data.id);
  const purged = await send("POST", "/admin/v1/accounts/default/purge", service.token, { confirm });
  expect(purged.status).toBe(200);
  const refused = await key("keys");
  expect([refused.status, refused.message]).toEqual([403, expect.stringContaining("money")]);
  expect((await send("GET", "/admin/v1/accounts/default", service.token)).status).toBe(404);
  expect((await send("POST", "/admin/v1/keys", service.token, { name: "new" })).status).toBe(200);
  expect((await key("keys")).status).toBe(400);
});
