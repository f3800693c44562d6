import { expect, test } from "bun:test";
import { createAddressGuard } from "../../src/egress/address.ts";

/** Every address with the verdict it must get when nothing is let through. */
const DENIED = `
0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255
10.0.0.0 10.0.0.1 10.255.255.255
100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
127.0.0.0 127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 127.255.255.255
168.63.129.16
169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
172.16.0.0 172.16.0.1 172.20.1.1 172.31.255.255
192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255
192.0.2.0 192.0.2.1 192.0.2.255
192.31.196.1 192.52.193.1 192.175.48.1
192.88.99.0 192.88.99.1 192.88.99.255
192.168.0.0 192.168.0.1 192.168.1.1 192.168.255.255
198.18.0.0 198.18.0.1 198.19.255.255
198.51.100.0 198.51.100.1 198.51.100.255
203.0.113.0 203.0.113.7 203.0.113.255
224.0.0.0 224.0.0.1 224.0.0.251 239.255.255.250 239.255.255.255
240.0.0.0 240.0.0.1 250.1.2.3 255.255.255.254 255.255.255.255
:: ::1 ::2
::127.0.0.1 ::8.8.8.8 ::7f00:1 ::ffff
::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 0:0:0:0:0:ffff:7f00:0001
::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:1:ffff::a00:1 64:ff9b:2::1
100::1 100:0:0:1::1
2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:5::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1
2001:db8::1 2001:db8:ffff:ffff::1 2001:0db8:0:0:0:0:0:1
2002:: 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe::1 2002:808:808::1
2620:4f:8000::1 2600:1f18::5efe:7f00:1 2a00:1450::200:5efe:a00:1
3ffe::1 3fff::1 3fff:fff:ffff::1
4000::1 5f00::1 6000::1 8000::1 a000::1 c000::1 e000::1 f000::1 f800::1
fc00::1 fd00::1 fd00:ec2::254 fdff:ffff::1
fe00::1 fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1
ff00::1 ff02::1 ff05::2 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`;
const PUBLIC = `
1.0.0.1 1.1.1.1 8.8.8.8 9.9.9.9 9.255.255.255 11.0.0.0
100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1
2400:cb00::1 2606:4700:4700::1111 2600:1f18::1 2620:fe::fe 2a00:1450:4001:81b::200e 3ffd::1 3fff:1000::1
`;
/** What no connection should ever be made to, as it is not an address in the one way of writing it. */
const NONSENSE = [
  "",
  " ",
  "localhost",
  "example.com",
  "127.1",
  "127.0.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "08.8.8.8",
  "8.8.8.8.",
  " 8.8.8.8",
  "8.8.8.8:80",
  "8.8.8.8/32",
  "256.8.8.8",
  "8.8.8",
  "[2606:4700:4700::1111]",
  "fe80::1%eth0",
  "2606:4700:4700::1111%eth0",
  "::ffff:127.0.0.1%lo",
  "2606:4700:4700:::1111",
  "1:2:3:4:5:6:7:8:9",
];

const list = (text: string) => text.trim().split(/\s+/);
const guard = createAddressGuard([], () => []);

test.each(list(DENIED))("%s is denied", (address) => {
  expect(guard.judge(address).kind).toBe("denied");
});

test.each(list(PUBLIC))("%s is public", (address) => {
  expect(guard.judge(address)).toEqual({ kind: "public" });
});

test.each(NONSENSE)("%p is no address", (text) => {
  expect(guard.judge(text)).toEqual({ kind: "denied", reason: "not an address" });
});

test("the table has every kind of address in it", () => {
  expect(list(DENIED).length + list(PUBLIC).length).toBeGreaterThanOrEqual(120);
  const reasons = list(DENIED).map((address) => {
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
