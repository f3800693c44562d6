import { expect, test } from "bun:test";
import { createAddressGuard } from "../../src/egress/address.ts";
import { DENIED, NONSENSE, PUBLIC } from "./vectors.ts";

const guard = createAddressGuard([], () => []);

test.each(DENIED)("%s is denied", (address) => {
  expect(guard.judge(address).kind).toBe("denied");
});

test.each(PUBLIC)("%s is public", (address) => {
  expect(guard.judge(address)).toEqual({ kind: "public" });
});

test.each(NONSENSE)("%p is no address", (text) => {
  expect(guard.judge(text)).toEqual({ kind: "denied", reason: "not an address" });
});

test("the table has every kind of address in it", () => {
  expect(DENIED.length + PUBLIC.length).toBeGreaterThanOrEqual(120);
  const reasons = DENIED.map((address) => {
    const verdict = guard.judge(address);
    return verdict.kind === "denied" ? verdict.reason : "";
  });
  expect(new Set(reasons)).toEqual(
    new Set([
      "this network",
      "private",
      "carrier-grade NAT",
      "loopback",
      "link-local",
      "cloud metadata",
      "protocol assignments",
      "documentation",
      "6to4 relay",
      "anycast to the nearest operator",
      "benchmarking",
      "multicast",
      "reserved",
      "unspecified",
      "IPv4 inside IPv6",
      "a Teredo tunnel",
      "given back",
      "unique local",
      "site-local",
    ]),
  );
});

test("what the operator lets through is allowed, its neighbours are not", () => {
  const { judge } = createAddressGuard(
    ["127.0.0.1/32", "192.168.1.0/24", "fd00:1::/32", "::1/128"],
    () => [],
  );
  const kinds = (...addresses: string[]) => addresses.map((address) => judge(address).kind);
  expect(kinds("127.0.0.1", "192.168.1.0", "192.168.1.255", "fd00:1::7", "::1")).toEqual(
    Array(5).fill("allowed"),
  );
  expect(kinds("127.0.0.2", "192.168.0.255", "192.168.2.0", "fd00:2::7", "::2")).toEqual(
    Array(5).fill("denied"),
  );
});

test("an IPv4 range lets no IPv6 address through that wraps it", () => {
  const { judge } = createAddressGuard(["127.0.0.0/8", "0.0.0.0/0"], () => []);
  for (const address of ["::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "::127.0.0.1"]) {
    expect(judge(address).kind).toBe("denied");
  }
});

test("the machine's own public addresses are denied, unless let through", () => {
  const own = () => ["198.4.5.6", "2a00:1450::00:7", "fe80::1%eth0"];
  const { judge } = createAddressGuard([], own);
  expect(judge("198.4.5.6")).toEqual({ kind: "denied", reason: "this machine" });
  expect(judge("2a00:1450:0::7")).toEqual({ kind: "denied", reason: "this machine" });
  expect(judge("198.4.5.7").kind).toBe("public");
  expect(createAddressGuard(["198.4.5.6"], own).judge("198.4.5.6").kind).toBe("allowed");
});

test("a list that is not of CIDR ranges is an error at once", () => {
  expect(() => createAddressGuard(["everything"], () => [])).toThrow();
  expect(() => createAddressGuard(["10.0.0.0/99"], () => [])).toThrow();
});
