import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createSystemResolve } from "../../src/egress/system-resolve.ts";
import { type Answer, startDns } from "./dns-server.ts";
import { NEVER } from "./servers.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-resolve-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const hostsFile = join(folder, "hosts");
const resolvConfFile = join(folder, "resolv.conf");

/** A resolver that asks a server with this script, and what the server was asked. */
async function scripted(
  script: Readonly<Record<string, readonly Answer[]>>,
  files: { hosts?: string; resolvConf?: string; isHasty?: boolean } = {},
) {
  writeFileSync(hostsFile, files.hosts ?? "");
  writeFileSync(resolvConfFile, files.resolvConf ?? "");
  const dns = await startDns(script);
  const delays: number[] = [];
  const after = (delayMs: number, callback: () => void) => {
    delays.push(delayMs);
    const timer = setTimeout(callback, files.isHasty ? 0 : delayMs);
    return () => clearTimeout(timer);
  };
  const resolve = createSystemResolve({ after, servers: [dns.address], hostsFile, resolvConfFile });
  return {
    queries: dns.queries,
    delays,
    resolve: (host: string, signal = NEVER) => resolve(host, signal),
    [Symbol.asyncDispose]: () => dns[Symbol.asyncDispose](),
  };
}

const records = (...addresses: string[]): Answer => ({ addresses });

test("both families are asked for, once each, and their addresses come in turn", async () => {
  await using it = await scripted({ "both.test": [records("1.1.1.1", "1.1.1.2", "1.1.1.3", "2600::1")] });
  expect(await it.resolve("both.test")).toEqual(["1.1.1.1", "2600::1", "1.1.1.2", "1.1.1.3"]);
  expect(it.queries.toSorted()).toEqual(["A both.test", "AAAA both.test"]);
});

test("nothing is kept of an answer, whatever time it says it is good for", async () => {
  await using it = await scripted({ "turn.test": [records("1.1.1.1"), records("2.2.2.2")] });
  expect(await it.resolve("turn.test")).toEqual(["1.1.1.1"]);
  expect(await it.resolve("turn.test")).toEqual(["2.2.2.2"]);
  expect(it.queries).toHaveLength(4);
});

test("a name behind aliases has the addresses at their end", async () => {
  await using it = await scripted({
    "a.test": [{ aliases: ["b.test", "c.test"], addresses: ["10.0.0.1", "fd00::1"] }],
  });
  expect(await it.resolve("a.test")).toEqual(["10.0.0.1", "fd00::1"]);
});

test("an answer too long for one packet is read whole", async () => {
  const addresses = Array.from({ length: 2_000 }, (_, i) => `8.8.${i >> 8}.${i & 255}`);
  await using it = await scripted({ "long.test": [{ addresses, isCut: true }] });
  expect(new Set(await it.resolve("long.test"))).toEqual(new Set(addresses));
});

test("a server that knows one family only delays its answer a little", async () => {
  for (const silentFor of ["A", "AAAA"] as const) {
    const script = { "half.test": [{ addresses: ["1.1.1.1", "2600::1"], silentFor }] };
    await using it = await scripted(script, { isHasty: true });
    expect(await it.resolve("half.test")).toEqual([silentFor === "A" ? "2600::1" : "1.1.1.1"]);
    expect(it.delays).toEqual([500]);
  }
});

test("a name that is not there has no addresses, a server that fails is an error", async () => {
  await using it = await scripted({ "fails.test": ["servfail"], "empty.test": [records()] });
  expect(await it.resolve("nowhere.test")).toEqual([]);
  expect(await it.resolve("empty.test")).toEqual([]);
  expect(await it.resolve(`${"a".repeat(64)}.test`).catch(() => [])).toEqual([]);
  expect(it.resolve("fails.test")).rejects.toThrow();
});

test("giving up ends a look-up at once", async () => {
  await using it = await scripted({ "silent.test": ["silent"] });
  const controller = new AbortController();
  const looking = it.resolve("silent.test", controller.signal);
  while (it.queries.length < 2) await Bun.sleep(1);
  const stop = new Error("enough");
  controller.abort(stop);
  expect(await looking.catch((error: unknown) => error)).toBe(stop);
  expect(it.resolve("silent.test", controller.signal)).rejects.toThrow("enough");
});

test("names whose servers never answer delay nobody", async () => {
  const controller = new AbortController();
  await using it = await scripted({ "good.test": [records("1.1.1.1")], "silent.local": ["silent"] });
  const names = Array.from({ length: 64 }, (_, index) => `silent${index}.local`);
  await using silent = await scripted(Object.fromEntries(names.map((name) => [name, ["silent"] as const])));
  const waiting = names.map((name) => silent.resolve(name, controller.signal).catch(() => "ended"));
  while (silent.queries.length < 2 * names.length) await Bun.sleep(1);
  const startedAt = performance.now();
  expect(await it.resolve("good.test")).toEqual(["1.1.1.1"]);
  await readFile(import.meta.path);
  await promisify(gzip)("x");
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  controller.abort();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["ended"]));
});

const HOSTS = `
# the machine's
127.0.0.1 localhost
10.9.8.7	Receiver receiver.lan # not this
fd00::7   receiver
10.9.8.8 other-receiver
fe80::1%lo0 receiver
`;
test("names of the hosts file are looked up nowhere else", async () => {
  await using it = await scripted({ "receiver.lan": [records("1.1.1.1")] }, { hosts: HOSTS });
  expect(await it.resolve("receiver")).toEqual(["10.9.8.7", "fd00::7", "fe80::1%lo0"]);
  expect(await it.resolve("RECEIVER.lan.")).toEqual(["10.9.8.7"]);
  expect(await it.resolve("localhost")).toEqual(["127.0.0.1"]);
  expect(it.queries).toEqual([]);
  expect(await it.resolve("not")).toEqual([]);
  expect(await it.resolve("10.9.8.7")).toEqual([]);
});

test("localhost is this machine, whoever answers for it", async () => {
  const script = { localhost: [records("1.1.1.1")], "app.localhost": [records("1.1.1.1")] };
  await using it = await scripted(script);
  expect(await it.resolve("localhost")).toEqual(["127.0.0.1"]);
  expect(await it.resolve("app.localhost.")).toEqual(["127.0.0.1"]);
  expect(it.queries).toEqual([]);
});

const searches: [string, string, string[]][] = [
  ["", "receiver", ["receiver"]],
  ["search one.test two.test", "receiver", ["receiver.one.test", "receiver.two.test", "receiver"]],
  ["search one.test", "receiver.example", ["receiver.example", "receiver.example.one.test"]],
  ["search one.test\noptions ndots:2 edns0", "a.example", ["a.example.one.test", "a.example"]],
  ["options ndots:0\nsearch one.test", "receiver", ["receiver", "receiver.one.test"]],
  ["domain one.test # ours", "receiver", ["receiver.one.test", "receiver"]],
  ["search one.test\nsearch two.test", "receiver", ["receiver.two.test", "receiver"]],
  ["search .", "receiver", ["receiver"]],
  ["search one.test", "receiver.", ["receiver"]],
];
test.each(searches)("with %p in resolv.conf, %p is looked for as %p", async (resolvConf, host, expected) => {
  await using it = await scripted({}, { resolvConf });
  expect(await it.resolve(host)).toEqual([]);
  expect(it.queries.filter((query) => query.startsWith("A "))).toEqual(expected.map((name) => `A ${name}`));
});

test("a search ends where there is an answer, and where a server fails", async () => {
  const resolvConf = "search one.test two.test";
  const script = { "a.one.test": [records("1.1.1.1")], "b.one.test": ["servfail" as const] };
  await using it = await scripted(script, { resolvConf });
  expect(await it.resolve("a")).toEqual(["1.1.1.1"]);
  expect(it.resolve("b")).rejects.toThrow();
  expect(it.queries.filter((query) => query.includes("two.test"))).toEqual([]);
});
