import { expect, test } from "bun:test";
import { createPrivateUrlCheck } from "../../src/egress/private-url.ts";

const check = createPrivateUrlCheck([]);

test.each([
  ["http://127.0.0.1:7860", "127.0.0.1 is loopback"],
  ["http://localhost/v1", "localhost is loopback"],
  ["https://engine.localhost.", "engine.localhost is loopback"],
  ["https://10.1.2.3/api", "10.1.2.3 is private"],
  ["http://[::1]:80", "::1 is loopback"],
  ["http://[fd00::7]/", "fd00::7 is unique local"],
  ["http://169.254.169.254/latest", "169.254.169.254 is link-local"],
  // The URL parser makes an address of each.
  ["http://2130706433/", "127.0.0.1 is loopback"],
  ["http://0x7f.1/", "127.0.0.1 is loopback"],
])("%s leads to a private network", (url, reason) => {
  expect(check(url)).toBe(reason);
});

test.each(["https://api.example.com/v1", "https://8.8.8.8", "https://[2606:4700::1111]"])(
  "%s does not lead to a private network",
  (url) => {
    expect(check(url)).toBeUndefined();
  },
);

test("what the operator allows is no private network", () => {
  const allowing = createPrivateUrlCheck(["127.0.0.0/8", "10.1.0.0/16"]);
  expect(["http://127.0.0.1", "http://localhost", "http://10.1.2.3"].map(allowing)).toEqual([
    ...[undefined, undefined, undefined],
  ]);
  expect(allowing("http://10.2.0.1")).toBe("10.2.0.1 is private");
});
