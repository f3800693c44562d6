import { expect, test } from "bun:test";
import { AddressError, readPostgresAddress, toPostgresUrl } from "../../src/toolkit/postgres-address.ts";

const read = (url: string, env = {}, lines?: string[]) =>
  readPostgresAddress(url, { env, passwordLines: () => lines });

test("the URL goes before the variables, and these before the defaults", () => {
  const env = {
    PGUSER: "theirs",
    PGPASSWORD: "p",
    PGSSLMODE: "require",
    PGPORT: "6000",
    PGHOST: "elsewhere",
  };
  expect(read("postgres://ours@db.example.com/svc?sslmode=disable", env)).toMatchObject({
    ...{
      host: "db.example.com",
      port: 6000,
      user: "ours",
      password: "p",
      database: "svc",
      sslmode: "disable",
    },
  });
  expect(read("postgres://", { USER: "me" })).toMatchObject({
    ...{ host: "localhost", port: 5432, user: "me", database: "me", password: undefined, sslmode: "prefer" },
  });
});

test("the first line of a password file that fits is taken, with its escapes", () => {
  const lines = ["# *:*:*:*:no", "other:*:*:svc:no", "*:5432:svc:svc:a\\:b\\\\c", "*:*:*:*:no"];
  expect(read("postgres://svc@db/svc", {}, lines).password).toBe("a:b\\c");
  expect(read("postgres://svc:given@db/svc", {}, lines).password).toBe("given");
  expect(read("postgres://svc@/svc?host=/run/postgresql", {}, ["localhost:*:*:*:yes"]).password).toBe("yes");
  expect(read("postgres://svc@db/svc", {}, ["db:5432:svc:svc"]).password).toBeUndefined();
});

test("an address comes back from its own URL, and needs no variables then", () => {
  const address = read(
    "postgres://s%40c:p%3A%2F%25@[::1]:99/my%20db?sslmode=require&sslrootcert=/ca.crt&client=pg",
  );
  // A root that is named is checked.
  expect(address.sslmode).toBe("verify-ca");
  expect(readPostgresAddress(toPostgresUrl(address))).toEqual(address);
  const socket = read("postgres://svc@/svc?host=/run/postgresql&connect_timeout=3&application_name=a%20b");
  expect(readPostgresAddress(toPostgresUrl(socket))).toEqual(socket);
});

const REFUSED = [
  ["postgres://db/svc?pool_mode=x", {}, "parameter that is not known here, pool_mode"],
  ["postgres://db/svc?sslmode=allow", {}, "wrong sslmode"],
  ["postgres://db/svc", { PGSSLMODE: "never" }, "wrong sslmode"],
  ["postgres://db/svc?sslcert=/a&sslmode=require", {}, "both sslcert and sslkey"],
  ["postgres://db/svc?sslrootcert=/a", {}, "may go without TLS"],
  ["postgres://a,b/svc", {}, "several hosts"],
  ["postgres://db/svc", { PGSERVICE: "x" }, "PGSERVICE"],
  ["postgres://db/svc?port=0", {}, "wrong port"],
  ["postgres://u:CANARY%zz@db/svc", {}, "begins no character"],
  ["mysql://u:CANARY@db/svc", {}, "is not the URL"],
  ["postgres://u:CANARY@db/svc/more", {}, "is not the URL"],
] as const;
for (const [url, env, message] of REFUSED)
  test(`refused with a word that has no password: ${url} ${JSON.stringify(env)}`, () => {
    let thrown: unknown;
    try {
      read(url, env);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AddressError);
    expect(String(thrown)).toContain(message);
    expect(String(thrown)).not.toContain("CANARY");
  });
