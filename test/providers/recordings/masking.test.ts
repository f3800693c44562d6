import { expect, test } from "bun:test";
import { HOOK_MASK, withoutAddressKeys } from "../../../src/providers/recordings/masking.ts";

const HOOK = "/hooks/01m84gnmh1ek0th8b9x8m0c6ma-0123456789012345678901234567890123456789012";
const SHA256 = "0123456789abcdef".repeat(4);

test("each address of this service is masked from its first beginning on, also within another", () => {
  for (const [text, wanted] of [
    [`see http://a.example${HOOK}, please`, `see ${HOOK_MASK}, please`],
    [`https%3A%2F%2Fa${HOOK.replaceAll("/", "%2F")}&x=1`, `${HOOK_MASK}&x=1`],
    [`http://a/http://b${HOOK}/http://c${HOOK}/d`, `${HOOK_MASK}/${HOOK_MASK}/d`],
    [`${HOOK}/http://a/hooks/short`, `${HOOK}/http://a/hooks/short`],
    [`"http://a/inputs/${SHA256}-c2ln.png"`, `"masked-input-${SHA256}"`],
  ] as const)
    expect(withoutAddressKeys(text)).toBe(wanted);
});

test("a text of very many beginnings of addresses is read at once", () => {
  for (const text of ["http://a".repeat(200_000), "http://a/hooks/".repeat(100_000)])
    expect(withoutAddressKeys(text)).toBe(text);
});
