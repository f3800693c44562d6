import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { EgressError } from "../../src/domain/ports/egress.ts";
import { createEgress } from "../../src/egress/egress.ts";
import { createSystemResolve } from "../../src/egress/system-resolve.ts";
import { type Answer, type DnsServer, startDns } from "./dns-server.ts";
import { NEVER } from "./servers.ts";
import { DENIED, PUBLIC } from "./vectors.ts";

/*
 * Names of every address that may not be called, asked for at a real name server. One listener takes the connections to any
 * address of this machine; none may come.
 */
const own = Object.values(networkInterfaces()).flatMap((entries = []) =>
  entries.map(({ address }) => address.replace(/%.*/, "")),
);
const vectors = [...new Set([...DENIED, ...own])];
const publicV4 = PUBLIC.find((address) => address.includes(".")) ?? "";
const publicV6 = PUBLIC.find((address) => address.includes(":")) ?? "";

const script: Record<string, Answer[]> = {
  "allowed.test": [{ addresses: ["127.0.0.1"] }],
  "alias.test": [{ aliases: ["internal.corp", "db.internal.corp"], addresses: ["10.0.0.1"] }],
  "rebind.test": [{ addresses: ["127.0.0.1"] }, { addresses: ["127.0.0.2"] }, { addresses: ["127.0.0.1"] }],
  "silent.test": ["silent"],
  "nonsense.test": ["nonsense"],
  "cut.test": [{ isCut: true, addresses: [publicV4, publicV6, "10.0.0.1"] }],
  "many.test": [
    { isCut: true, addresses: Array.from({ length: 2_000 }, (_, i) => `127.0.${i >> 8}.${i & 255}`) },
  ],
};
for (const [index, address] of vectors.entries()) {
  script[`only${index}.test`] = [{ addresses: [address] }];
  script[`mixed${index}.test`] = [{ addresses: [publicV4, address, publicV6] }];
}

let dns: DnsServer;
let listener: Server;
let port: number;
const connections: string[] = [];
beforeAll(async () => {
  dns = await startDns(script);
  listener = createServer((socket) => {
    connections.push(socket.localAddress ?? "");
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
  });
  await new Promise<void>((listening) => listener.listen(0, "::", listening));
  const address = listener.address();
  port = address !== null && typeof address === "object" ? address.port : 0;
});
afterAll(async () => {
  listener.close();
  await dns[Symbol.asyncDispose]();
});

function egressThatAsks(allow: readonly string[], callbackMs = 20_000) {
  const after = (delayMs: number, callback: () => void) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  };
  const files = { hostsFile: "/nowhere", resolvConfFile: "/nowhere" };
  const resolve = createSystemResolve({ after, servers: [dns.address], ...files });
  return createEgress({ allow, resolve, limits: { callbackMs } });
}

const tell = (host: string, allow: readonly string[] = [], withinMs?: number) =>
  egressThatAsks(allow, withinMs).deliver(`http://${host}:${port}/`, { body: "{}" }, NEVER);

async function readFault(host: string, allow: readonly string[] = []): Promise<string> {
  const read = egressThatAsks(allow).fetchMedia(`https://${host}:${port}/`, { maxBytes: 1, signal: NEVER });
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof EgressError ? error.reason : "read";
}

test.each(["only", "mixed"])(
  "no name that has an address of the table (%s) gets a connection",
  async (how) => {
    for (const [index, address] of vectors.entries()) {
      const host = `${how}${index}.test`;
      const [delivery, fault] = await Promise.all([tell(host), readFault(host)]);
      expect([address, delivery.kind as string, fault]).toEqual([address, "forbidden", "forbidden"]);
      const told = "reason" in delivery ? delivery.reason : "";
      expect(told).toMatch(/^points to an address that is not public \([^)]+\)$/);
      expect(told.includes(address) && address.length > 4).toBe(false);
    }
    expect(connections).toEqual([]);
    expect(dns.queries).toContain(`AAAA ${how}0.test`);
  },
  20_000,
);

test("the listener would have noticed", async () => {
  expect(await tell("allowed.test", ["127.0.0.1"])).toMatchObject({
    kind: "delivered",
    address: "127.0.0.1",
  });
  expect(connections.splice(0)).toHaveLength(1);
});

test("a name behind aliases that leads inside is forbidden", async () => {
  expect((await tell("alias.test")).kind).toBe("forbidden");
  expect(await readFault("alias.test")).toBe("forbidden");
  expect(connections).toEqual([]);
});

test("an answer that is cut is read whole before it is judged", async () => {
  expect(await tell("cut.test")).toMatchObject({ kind: "forbidden" });
});

test("a name with more addresses than can be checked is not tried at all", async () => {
  expect(await tell("many.test", ["127.0.0.0/8"])).toEqual({
    kind: "unreachable",
    reason: "names a host with more than 64 addresses",
  });
  expect(connections).toEqual([]);
});

test("each attempt asks once, and goes to the address that was checked", async () => {
  const allow = ["127.0.0.1"];
  const kinds: string[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) kinds.push((await tell("rebind.test", allow)).kind);
  expect(kinds).toEqual(["delivered", "forbidden", "delivered"]);
  const asked = dns.queries.filter((query) => query.endsWith(" rebind.test"));
  expect(asked.toSorted()).toEqual([...Array(3).fill("A rebind.test"), ...Array(3).fill("AAAA rebind.test")]);
  expect(connections.splice(0).map((address) => address.replace("::ffff:", ""))).toEqual([
    "127.0.0.1",
    "127.0.0.1",
  ]);
});

test("a server that never answers, or not in this language, costs the attempt's time and no more", async () => {
  const outcomes = await Promise.all(
    ["silent.test", "nonsense.test", "nowhere.test"].map((host) => tell(host, [], 100)),
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(["unreachable", "unreachable", "unreachable"]);
  // The look-up itself would give up later, and in other words.
  expect(outcomes[0]).toMatchObject({ reason: "no answer in time" });
  expect(connections).toEqual([]);
});
