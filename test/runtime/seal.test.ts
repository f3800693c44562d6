import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSeal } from "../../src/runtime/seal.ts";

const SECRET = "whsec_c2VjcmV0";
const BASE64 = Buffer.alloc(32, 7).toString("base64");
const PASSPHRASE = "correct-horse-battery-staple";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-seal-"));
  folders.push(folder);
  return join(folder, "secret.key");
}

test("what is sealed shows nothing, differs each time, and opens for what it is bound to alone", () => {
  const seal = createSeal({ key: BASE64, file: keyFile() });
  const [one, other] = [seal.seal(SECRET, "key_1"), seal.seal(SECRET, "key_1")];
  expect(one).not.toContain(SECRET);
  expect(one).not.toBe(other);
  expect([seal.open(one, "key_1"), seal.open(other, "key_1")]).toEqual([SECRET, SECRET]);
  expect(seal.open(one, "key_2")).toBeUndefined();
});

test("what was changed does not open", () => {
  const seal = createSeal({ key: PASSPHRASE, file: keyFile() });
  const sealed = seal.seal(SECRET, "key_1");
  const changed = `${sealed.slice(0, -1)}${sealed.endsWith("A") ? "B" : "A"}`;
  for (const text of [changed, sealed.slice(0, -8), sealed.slice(0, 40), "sealed.1.", ""])
    expect(seal.open(text, "key_1")).toBeUndefined();
});

test("a key, a passphrase and a file are three keys; each opens its own", () => {
  const file = keyFile();
  const seals = [{ key: BASE64 }, { key: PASSPHRASE }, {}].map((given) => createSeal({ ...given, file }));
  const [sealed = "", ...others] = seals.map((seal) => seal.seal(SECRET, "key_1"));
  expect(createSeal({ key: BASE64, file }).open(sealed, "key_1")).toBe(SECRET);
  // The file opens too where a key is given.
  expect(others.map((each) => createSeal({ key: BASE64, file }).open(each, "key_1"))).toEqual([
    undefined,
    SECRET,
  ]);
});

test("a previous key opens, and what it sealed is told from what the key in use sealed", () => {
  const file = keyFile();
  const before = createSeal({ key: BASE64, file }).seal(SECRET, "key_1");
  const seal = createSeal({ key: PASSPHRASE, previousKey: BASE64, file });
  expect(seal.open(before, "key_1")).toBe(SECRET);
  const states = [before, seal.seal(SECRET, "key_1"), SECRET].map(seal.stateOf);
  expect(states).toEqual(["sealed_before", "sealed", "clear"]);
});

test("a file is made once, when something is sealed, for its owner alone", () => {
  const file = keyFile();
  const seal = createSeal({ file });
  expect(seal.open(createSeal({ key: BASE64, file }).seal(SECRET, "key_1"), "key_1")).toBeUndefined();
  expect(readdirSync(join(file, ".."))).toEqual([]);
  const sealed = seal.seal(SECRET, "key_1");
  const content = readFileSync(file, "utf8");
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  const later = createSeal({ file });
  later.seal(SECRET, "key_1");
  expect(later.open(sealed, "key_1")).toBe(SECRET);
  expect(readFileSync(file, "utf8")).toBe(content);
  expect(readdirSync(join(file, ".."))).toEqual(["secret.key"]);
});

test("a file that holds no key is not replaced", () => {
  const file = keyFile();
  writeFileSync(file, "");
  expect(() => createSeal({ file }).seal(SECRET, "key_1")).toThrow("holds no key");
  expect(readFileSync(file, "utf8")).toBe("");
});

test("a signature is the same each time, and holds for its text and its key alone", () => {
  const file = keyFile();
  const seal = createSeal({ key: BASE64, file });
  const signature = seal.sign("a text");
  expect(signature).toMatch(/^[\w-]{43}$/);
  expect(seal.sign("a text")).toBe(signature);
  expect([seal.isSigned("a text", signature), seal.isSigned("another", signature)]).toEqual([true, false]);
  for (const wrong of ["", signature.slice(1), "A".repeat(43)])
    expect(seal.isSigned("a text", wrong)).toBe(false);
  expect(createSeal({ key: PASSPHRASE, file }).isSigned("a text", signature)).toBe(false);
});

test("what a previous key or the file signed holds, and is signed no more", () => {
  const file = keyFile();
  const [before, filed] = [createSeal({ key: BASE64, file }), createSeal({ file })].map((each) =>
    each.sign("x"),
  );
  const seal = createSeal({ key: PASSPHRASE, previousKey: BASE64, file });
  expect([before, filed].map((signature) => seal.isSigned("x", signature ?? ""))).toEqual([true, true]);
  expect([before, filed]).not.toContain(seal.sign("x"));
});
