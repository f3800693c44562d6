import { describe, expect, test } from "bun:test";
import { createAddresses } from "../../src/runtime/address-ranges.ts";

const { canonical, range, isWithin, subscriber } = createAddresses();

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:c000:207", "192.0.2.7"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:db8:0:1::", "2001:db8:0:1::"],
  ["fe80::1%eth0", "fe80::1"],
  ["::", "::"],
])("the address %s is written %s", (text, expected) => {
  expect(canonical(text)).toBe(expected);
});

test("an address is written the same way however many were read since", () => {
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1_500; i++)
      expect(canonical(`::ffff:10.0.${i >> 8}.${i & 255}`)).toBe(`10.0.${i >> 8}.${i & 255}`);
  }
  expect(canonical("nobody")).toBeUndefined();
  expect(canonical("nobody")).toBeUndefined();
});

test.each([
  "",
  " 192.0.2.7",
  "192.0.2",
  "192.0.2.07",
  "0xc0000207",
  "3221225991",
  "192.0.2.7:80",
  "[::1]",
  "::1%",
  "192.0.2.7%eth0",
  "localhost",
  ":::",
])("%j is no address", (text) => {
  expect(canonical(text)).toBeUndefined();
  expect(isWithin(text, ["0.0.0.0/0", "::/0"])).toBe(false);
});

test.each([
  ["192.0.2.7", "192.0.2.7/32"],
  ["192.0.2.7/24", "192.0.2.0/24"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["2001:DB8::5/32", "2001:db8::/32"],
  ["::1", "::1/128"],
  ["::/0", "::/0"],
  ["::ffff:10.0.0.5/104", "10.0.0.0/8"],
])("the range %s is written %s", (text, expected) => {
  expect(range(text)).toBe(expected);
});

test.each([
  "",
  "/8",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "::1/129",
  "fe80::1%eth0/64",
  "10.0/8",
  "any",
])("%j is no range", (text) => {
  expect(range(text)).toBeUndefined();
});

describe("an address", () => {
  test.each<[string, string[]]>([
    ["10.0.0.0", ["10.0.0.0/8"]],
    ["10.255.255.255", ["10.0.0.0/8"]],
    ["::ffff:10.1.1.1", ["10.0.0.0/8"]],
    ["10.1.1.1", ["::ffff:10.0.0.0/104"]],
    ["2001:db8:ffff::", ["2001:db8::/32"]],
    ["192.0.2.7", ["10.0.0.0/8", "192.0.2.7/32"]],
    ["192.0.2.7", ["0.0.0.0/0"]],
  ])("%s is within %j", (address, ranges) => {
    expect(isWithin(address, ranges)).toBe(true);
  });

  test.each<[string, string[]]>([
    ["11.0.0.0", ["10.0.0.0/8"]],
    ["2001:db9::", ["2001:db8::/32"]],
    ["192.0.2.7", []],
    ["192.0.2.7", ["::/0"]],
    ["::1", ["0.0.0.0/0"]],
    ["192.0.2.7", ["nonsense"]],
    // An IPv4 address in disguise other than the mapped one is another address.
    ["64:ff9b::10.0.0.1", ["10.0.0.0/8"]],
  ])("%s is not within %j", (address, ranges) => {
    expect(isWithin(address, ranges)).toBe(false);
  });
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["::1", "::/64"],
  ["", ""],
  ["unknown", "unknown"],
])("the subscriber of %j is %j", (address, expected) => {
  expect(subscriber(address)).toBe(expected);
});
