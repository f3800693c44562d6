import { describe, expect, test } from "bun:test";
import { clientAddressOf, originOf } from "../../src/http/client-address.ts";
import type { Connection } from "../../src/http/exchange.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";

const addresses = createAddresses();
const TRUSTED = ["10.0.0.0/8", "2001:db8:aaaa::/48"];
const PROXY = "10.0.0.1";

const from = (address: string | undefined): Connection => ({ isLong: false, address: () => address });

function addressOf(
  socket: string | undefined,
  forwarded?: string,
  trustedProxies: readonly string[] = TRUSTED,
) {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const request = new Request("http://localhost/", { headers });
  return clientAddressOf({ addresses, trustedProxies }, request, from(socket));
}

describe("without a trusted proxy the socket's address counts, whatever is forwarded:", () => {
  test.each<[string | undefined, string | undefined, string | undefined]>([
    ["203.0.113.9", undefined, "203.0.113.9"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["203.0.113.9", "10.0.0.1", "203.0.113.9"],
    ["203.0.113.9", "127.0.0.1, 10.0.0.1", "203.0.113.9"],
    ["::ffff:203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["11.0.0.1", "198.51.100.1", "11.0.0.1"],
    ["2001:db8:aaab::1", "198.51.100.1", "2001:db8:aaab::1"],
    ["::1", "198.51.100.1", "::1"],
    ["fe80::1%eth0", "198.51.100.1", "fe80::1"],
    [undefined, undefined, undefined],
    [undefined, "198.51.100.1", undefined],
    ["", "198.51.100.1", undefined],
  ])("%p, forwarded %p: %p", (socket, forwarded, expected) => {
    expect(addressOf(socket, forwarded)).toBe(expected);
  });

  test("and by default nobody is trusted", () => {
    expect(addressOf(PROXY, "198.51.100.1", [])).toBe(PROXY);
  });
});

describe("behind a trusted proxy the right-most address that is not one counts:", () => {
  test.each<[string, string | undefined, string | undefined]>([
    // What proxies send.
    [PROXY, "203.0.113.9", "203.0.113.9"],
    ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["2001:db8:aaaa::1", "203.0.113.9", "203.0.113.9"],
    [PROXY, "203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [PROXY, "203.0.113.9, 10.0.0.3, 10.0.0.2", "203.0.113.9"],
    [PROXY, "203.0.113.9,10.0.0.2", "203.0.113.9"],
    [PROXY, "  203.0.113.9  ", "203.0.113.9"],
    [PROXY, "2001:DB8:BBBB::7", "2001:db8:bbbb::7"],
    [PROXY, "::ffff:203.0.113.9", "203.0.113.9"],
    [PROXY, "::ffff:203.0.113.9, ::ffff:10.0.0.2", "203.0.113.9"],
    [PROXY, "fe80::7%eth0", "fe80::7"],
    // Ports and brackets, as some add them.
    [PROXY, "203.0.113.9:4711", "203.0.113.9"],
    [PROXY, "[2001:db8:bbbb::7]", "2001:db8:bbbb::7"],
    [PROXY, "[2001:db8:bbbb::7]:4711", "2001:db8:bbbb::7"],
    [PROXY, "203.0.113.9:4711, 10.0.0.2:80", "203.0.113.9"],
    [PROXY, "203.0.113.9, [2001:db8:aaaa::2]:443", "203.0.113.9"],
    // The proxy itself asks, or says nothing.
    [PROXY, undefined, PROXY],
    [PROXY, "", PROXY],
    [PROXY, " , ,", PROXY],
    // Everybody is a proxy: the first of them asked.
    [PROXY, "10.0.0.9, 10.0.0.2", "10.0.0.9"],
    [PROXY, "10.0.0.9,, 10.0.0.2,", "10.0.0.9"],
    // Written by the caller, further left than what the proxy added.
    [PROXY, "198.51.100.1, 203.0.113.9", "203.0.113.9"],
    [PROXY, "10.0.0.7, 203.0.113.9", "203.0.113.9"],
    [PROXY, "127.0.0.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [PROXY, "198.51.100.1, 10.0.0.7, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    [PROXY, "junk, 203.0.113.9", "203.0.113.9"],
    [PROXY, "a,b,c,,;'\"<>, 203.0.113.9", "203.0.113.9"],
    [PROXY, `${"198.51.100.1, ".repeat(500)}203.0.113.9`, "203.0.113.9"],
    // A proxy that names what is no address: nobody can tell.
    [PROXY, "unknown", undefined],
    [PROXY, "_hidden", undefined],
    [PROXY, "203.0.113.9, unknown", undefined],
    [PROXY, "203.0.113.9, unknown, 10.0.0.2", undefined],
    [PROXY, "198.51.100.1, localhost", undefined],
    [PROXY, "010.0.0.9", undefined],
    [PROXY, "0x0a000009", undefined],
    [PROXY, "10.0.0.256", undefined],
    [PROXY, "203.0.113.9:port", undefined],
    [PROXY, "[203.0.113.9]", undefined],
    [PROXY, "[2001:db8:bbbb::7", undefined],
    [PROXY, '"203.0.113.9"', undefined],
    [PROXY, "203.0.113.0/24", undefined],
    [PROXY, "203.0.113.9 198.51.100.1", undefined],
    [PROXY, "http://203.0.113.9", undefined],
  ])("%p, forwarded %p: %p", (socket, forwarded, expected) => {
    expect(addressOf(socket, forwarded)).toBe(expected);
  });

  test("several header lines are one list", () => {
    const headers = new Headers();
    headers.append("x-forwarded-for", "198.51.100.1");
    headers.append("x-forwarded-for", "203.0.113.9");
    const request = new Request("http://localhost/", { headers });
    expect(clientAddressOf({ addresses, trustedProxies: TRUSTED }, request, from(PROXY))).toBe("203.0.113.9");
  });
});

describe("the origin", () => {
  function origin(
    headers: Record<string, string>,
    socket: string | undefined = PROXY,
    given: { publicUrl?: string; trustedProxies?: readonly string[] } = {},
  ) {
    const trust = { addresses, trustedProxies: TRUSTED, ...given };
    return originOf(trust, new Request("http://ignored/", { headers }), from(socket));
  }

  test.each<[string, Record<string, string>, string]>([
    ["is the Host header's", { host: "media.example:8787" }, "http://media.example:8787"],
    [
      "has the scheme a proxy names",
      { host: "a.example", "x-forwarded-proto": "https" },
      "https://a.example",
    ],
    ["has the host a proxy names", { host: "b", "x-forwarded-host": "a.example" }, "http://a.example"],
    ["has the left-most of several", { host: "b", "x-forwarded-proto": "HTTPS, http" }, "https://b"],
    ["has no other scheme", { host: "b", "x-forwarded-proto": "javascript" }, "http://b"],
    ["has no host that is none", { host: "b", "x-forwarded-host": "a/../<script>" }, "http://b"],
    ["needs one usable host", { host: "a b", "x-forwarded-host": "[::1]:80" }, "http://[::1]:80"],
    [
      "passes over an empty value",
      { host: "b", "x-forwarded-host": "", "x-forwarded-proto": "" },
      "http://b",
    ],
  ])("%s", (_, headers, expected) => {
    expect(origin(headers)).toBe(expected);
  });

  test("believes nobody else", () => {
    const forged = { host: "b", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    expect(origin(forged, "203.0.113.9")).toBe("http://b");
    expect(origin(forged, "")).toBe("http://b");
    expect(origin(forged, PROXY, { trustedProxies: [] })).toBe("http://b");
  });

  test("is what the operator says, whatever anybody else says", () => {
    const forwarded = { host: "a b", "x-forwarded-host": "evil.example" };
    expect(origin(forwarded, PROXY, { publicUrl: "https://media.example" })).toBe("https://media.example");
  });

  test("without a usable host is refused", () => {
    for (const host of ["", "a b", "[", "evil/x"]) expect(() => origin({ host })).toThrow("Host header");
  });
});
