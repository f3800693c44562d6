import { formatCredential } from "../../../src/domain/access/credential.ts";
import { among, type Header, type Malformed, type Target, UNAUTHENTICATED } from "./request.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;

/** Credentials that are none, and headers that only look like what they should be. */
export function malformedHeaders(target: Target): Malformed[] {
  return [
    ...credentials(target),
    ...among({ path: "/v1/images/generations", body: IMAGE }, idempotencyKeys()),
    ...hosts(),
  ];
}

function credentials({ key, managementToken }: Target): Malformed[] {
  const unknown = formatCredential("api_key", "0".repeat(32));
  const given = (name: string, headers: readonly Header[], path = "/v1/models"): Malformed => ({
    name,
    path,
    headers,
    without: ["authorization"],
    ...UNAUTHENTICATED,
  });
  const authorizations: readonly [string, string][] = [
    ["an empty Authorization", ""],
    ["a scheme alone", "Bearer"],
    ["a scheme and spaces", "Bearer    "],
    ["a key without a scheme", key],
    ["another scheme", `Token ${key}`],
    ["Basic with the key as password", `Basic ${Buffer.from(`:${key}`).toString("base64")}`],
    ["a key behind a tab", `Bearer\t${key}`],
    ["a key behind a colon", `Bearer: ${key}`],
    ["a key in quotes", `Bearer "${key}"`],
    ["two keys", `Bearer ${key} ${key}`],
    ["two keys in a list", `Bearer ${key}, Bearer ${unknown}`],
    ["a key with a letter more", `Bearer ${key}x`],
    ["a key with a letter less", `Bearer ${key.slice(0, -1)}`],
    ["a key in upper case", `Bearer ${key.toUpperCase()}`],
    ["a key whose checksum is wrong", `Bearer ${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`],
    ["a prefix alone", "Bearer sk-svc-"],
    ["an unknown key", `Bearer ${unknown}`],
    ["a management token", `Bearer ${managementToken}`],
    ["10 KB", `Bearer ${"Z".repeat(10_000)}`],
    ["bytes above ASCII", "Bearer sk-svc-\xe9\xff"],
    ["an SQL injection", "Bearer ' OR '1'='1"],
    ["a placeholder", "Bearer <API_KEY>"],
    ["null", "Bearer null"],
  ];
  const others: readonly [string, string][] = [
    ["x-api-key", ""],
    ["x-api-key", `Bearer ${key}`],
    ["x-api-key", `${key}, ${unknown}`],
    ["x-goog-api-key", "nothing"],
    ["x-GOOG-Api-Key", unknown],
    ["x--api-key", key],
    ["api-key", key],
    ["apikey", key],
    ["Cookie", `key=${key}`],
    ["Proxy-Authorization", `Bearer ${key}`],
  ];
  return [
    ...authorizations.map(([name, value]) => given(name, [["Authorization", value]])),
    ...others.map(([name, value]) =>
      given(`${name}: ${value.replace(key, "<key>") || "nothing"}`, [[name, value]]),
    ),
    given("no credential", []),
    given("Authorization twice", [
      ["Authorization", `Bearer ${key}`],
      ["Authorization", `Bearer ${unknown}`],
    ]),
    given("x-api-key twice", [
      ["x-api-key", key],
      ["x-api-key", unknown],
    ]),
    given("a bad first credential and a good second", [
      ["Authorization", `Bearer ${unknown}`],
      ["x-api-key", key],
    ]),
    given("an empty key in the query", [], "/v1/models?key="),
    given("an unknown key in the query", [], `/v1/models?key=${unknown}`),
    given("a bad key in the query, and a good one", [], `/v1/models?key=x&key=${key}`),
    given("a key in the query by another name", [], `/v1/models?api_key=${key}`),
    given("a key as the name of the user", [], `/v1/models?Key=${key}`),
    ...["/compat/v1/models", "/v1/tasks", "/v1/images/status/x", "/v1/tasks/x/events", "/admin/v1/keys"].map(
      (path) => given(`no credential for ${path}`, [], path),
    ),
    ...[
      "/v1/images/generations",
      "/v1/videos/generations",
      "/compat/v1/images/generations",
      "/compat/v1/images/edits",
      "/compat/v1/videos",
      "/compat/v1/videos/x/remix",
    ].map(
      (path): Malformed => ({ ...given(`no credential, and no JSON, for ${path}`, [], path), body: "{" }),
    ),
    given("an API key for the management API", [["Authorization", `Bearer ${key}`]], "/admin/v1/keys"),
    given(
      "an unknown management token",
      [["Authorization", `Bearer ${formatCredential("management_token", "0".repeat(32))}`]],
      "/admin/v1/keys",
    ),
    {
      ...given(
        "a management token for a create",
        [["Authorization", `Bearer ${managementToken}`]],
        "/v1/images/generations",
      ),
      body: IMAGE,
    },
  ];
}

function idempotencyKeys(): Malformed[] {
  const keys: readonly [string, string][] = [
    ["that is empty", ""],
    ["of spaces", "   "],
    ["of 256 characters", "Z".repeat(256)],
    ["of 8000 characters", "Z".repeat(8000)],
    ["with a tab", "a\tb"],
    ["in UTF-8", Buffer.from("schlüssel").toString("latin1")],
    ["in Latin-1", "schl\xfcssel"],
    ["with DEL", "a\x7fb"],
  ];
  return keys.map(([name, key]) => ({
    name: `an idempotency key ${name}`,
    headers: [["Idempotency-Key", key]],
    code: "invalid_idempotency_key",
    says: "255",
  }));
}

function hosts(): Malformed[] {
  return [
    "[",
    "a b",
    "evil.example/x",
    "a:b",
    "a:999999",
    "user@example.com",
    "",
    "exa\xe9mple",
    "a,b",
    "[::1",
    "-:x",
  ].map((host) => ({
    name: `Host: ${JSON.stringify(host)}`,
    path: "/v1/images/generations",
    headers: [["Host", host]],
    body: IMAGE,
    says: "Host",
  }));
}
