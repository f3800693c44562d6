import type { JsonObject } from "../../../src/domain/json.ts";
import {
  among,
  type Header,
  type Malformed,
  NOTHING_THERE,
  type Target,
  TOO_LARGE,
  WRONG_TYPE,
} from "./request.ts";

const NO_KEY = "key_01jd0000000000000000000000";

/** What operators' tools could send by mistake to /admin/v1. */
export function malformedManagement(target: Target): Malformed[] {
  const authorization: Header = ["Authorization", `Bearer ${target.managementToken}`];
  const lines = [
    ...among({ path: "/admin/v1/keys" }, [...forms(), ...keys()]),
    ...among({ path: "/admin/v1/accounts" }, accounts()),
    ...among({ path: "/admin/v1/accounts/default/credit" }, credits()),
    ...among({ path: "/admin/v1/tokens" }, tokens()),
    ...unknownOnes(),
    ...queries(),
  ];
  return lines.map((line) => ({ ...line, headers: [authorization, ...(line.headers ?? [])] }));
}

function field(good: JsonObject, name: string, value: JsonObject[string], param = name): Malformed {
  return {
    name: `${name} = ${JSON.stringify(value)?.slice(0, 40)}`,
    body: { ...good, [name]: value },
    param,
  };
}

function forms(): Malformed[] {
  const good = { name: "x" };
  return [
    { name: "an empty body", body: "", says: "JSON" },
    { name: "a list", body: "[]", says: "object" },
    { name: "half an object", body: '{"name":', says: "JSON" },
    { name: "a field twice", body: '{"name":"a","name":"b"}', says: "twice" },
    { name: "33 levels", body: `{"name":${"[".repeat(33)}`, says: "32" },
    { name: "NUL", body: '{"name":"a\\u0000b"}', param: "name" },
    { name: "half a surrogate pair", body: '{"name":"\\ud800"}', param: "name" },
    { name: "2 MB", body: { name: "Z".repeat(2_000_000) }, ...TOO_LARGE },
    { name: "Latin-1", body: Buffer.from('{"name":"\xe9"}', "latin1"), says: "UTF-8" },
    { name: "text/plain", body: good, headers: [["Content-Type", "text/plain"]], ...WRONG_TYPE },
    { name: "no content type", body: good, without: ["content-type"], ...WRONG_TYPE },
    { name: "gzip", body: good, headers: [["Content-Encoding", "gzip"]], ...WRONG_TYPE },
    { name: "no name", body: {}, param: "name" },
    { name: "a misspelt field", body: { name: "x", modles: ["a"] }, param: "modles", says: "models" },
    { name: "__proto__", body: '{"name":"x","__proto__":{"concurrency":1}}', param: "__proto__" },
  ];
}

function keys(): Malformed[] {
  const key = (name: string, value: JsonObject[string], param = name) =>
    field({ name: "x" }, name, value, param);
  return [
    ...["", 7, null, [], "Z".repeat(101)].map((name) => key("name", name)),
    ...[7, null, "Z".repeat(201)].map((account) => key("account", account)),
    ...[-1, 1.5, "tomorrow", 1e300, []].map((time) => key("expires_at", time)),
    key("expires_at", 1),
    ...["*", [], {}, 7].map((models) => key("models", models)),
    key("models", [7], "models[0]"),
    key("models", ["Z".repeat(201)], "models[0]"),
    key("features", ["everything"], "features[0]"),
    key("features", []),
    ...["10.0.0.0/33", "300.1.1.1", "localhost", "", "::/129", "10.0.0.1/8/8"].map((range) =>
      key("allow_ips", [range]),
    ),
    key("allow_ips", "127.0.0.1"),
    ...[0, -1, 1.5, "60", 1e9].map((count) => key("requests_per_minute", count)),
    ...[0, -1, 1.5, "1", true].map((count) => key("concurrency", count)),
    ...[[], "x", {}].map((aliases) => key("aliases", aliases)),
    key("aliases", { a: 7 }, "aliases.a"),
    ...["base64", 7, "URL"].map((format) => key("response_format", format)),
    ...[0, -5, "30", 1e9].map((wait) => key("sync_wait_seconds", wait)),
  ];
}

function accounts(): Malformed[] {
  const account = (name: string, value: JsonObject[string]) => field({ name: "x" }, name, value);
  return [
    { name: "no name", body: {}, param: "name" },
    account("name", ""),
    account("mode", "free"),
    account("mode", null),
    account("currency", "EUR"),
    ...[5, "five", "1e3", "1.0000001", "-", "", " 1", "1,00", "9999999999", "NaN", "0x10"].map((credit) =>
      account("credit", credit),
    ),
    account("balance", "5.00"),
  ];
}

function credits(): Malformed[] {
  const credit = (name: string, value: JsonObject[string]) =>
    field({ amount: "1.00", reason: "x" }, name, value);
  return [
    { name: "no amount", body: { reason: "x" }, param: "amount" },
    { name: "no reason", body: { amount: "1.00" }, param: "reason" },
    ...[1, "1e2", "--1", "+1", "1.", ".5", "１", "1\n", "9".repeat(20), null].map((amount) =>
      credit("amount", amount),
    ),
    ...["", 7, "Z".repeat(501)].map((reason) => credit("reason", reason)),
    credit("currency", "usd"),
  ];
}

function tokens(): Malformed[] {
  return [
    { name: "no name", body: {}, param: "name" },
    field({ name: "x" }, "name", ["x"]),
    field({ name: "x" }, "expires_at", 1),
    { name: "nothing", method: "POST", ...WRONG_TYPE },
  ];
}

function unknownOnes(): Malformed[] {
  const missing = (method: string, path: string, body?: JsonObject): Malformed => ({
    name: `${method} ${path}`,
    method,
    path,
    ...(body === undefined ? {} : { body }),
    ...NOTHING_THERE,
  });
  return [
    missing("GET", `/admin/v1/keys/${NO_KEY}`),
    missing("GET", "/admin/v1/keys/%00"),
    missing("GET", "/admin/v1/keys/__proto__"),
    missing("GET", `/admin/v1/keys/${"Z".repeat(500)}`),
    missing("PATCH", `/admin/v1/keys/${NO_KEY}`, { concurrency: 1 }),
    missing("POST", `/admin/v1/keys/${NO_KEY}/revoke`),
    missing("POST", `/admin/v1/keys/${NO_KEY}/rotate`, {}),
    missing("GET", "/admin/v1/accounts/nobody"),
    missing("POST", "/admin/v1/accounts/nobody/credit", { amount: "1.00", reason: "x" }),
    missing("POST", "/admin/v1/tokens/nothing/revoke"),
    {
      name: "a change of nothing",
      method: "PATCH",
      path: `/admin/v1/keys/${NO_KEY}`,
      body: {},
      says: "fields",
    },
    {
      name: "a change of the name",
      method: "PATCH",
      path: `/admin/v1/keys/${NO_KEY}`,
      body: { name: "y" },
      param: "name",
    },
    {
      name: "a grace of minus one second",
      path: `/admin/v1/keys/${NO_KEY}/rotate`,
      body: { grace_seconds: -1 },
      param: "grace_seconds",
    },
    {
      name: "a grace of a million years",
      path: `/admin/v1/keys/${NO_KEY}/rotate`,
      body: { grace_seconds: 3e13 },
      param: "grace_seconds",
    },
    {
      name: "a key for an unknown account",
      path: "/admin/v1/keys",
      body: { name: "x", account: "nobody" },
      ...NOTHING_THERE,
    },
  ];
}

function queries(): Malformed[] {
  return [
    { name: "an unknown parameter", path: "/admin/v1/keys?acount=default", param: "acount", says: "account" },
    {
      name: "a parameter twice",
      path: "/admin/v1/keys?account=a&account=b",
      param: "account",
      says: "twice",
    },
    { name: "__proto__ as a parameter", path: "/admin/v1/keys?__proto__=x", param: "__proto__" },
    {
      name: "a parameter of 500 characters",
      path: `/admin/v1/keys?${"Z".repeat(500)}=1`,
      param: `${"Z".repeat(80)}…`,
    },
    { name: "an account of nobody", path: "/admin/v1/keys?account=nobody", ...NOTHING_THERE },
  ];
}
