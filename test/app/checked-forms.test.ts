import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCheckedForms } from "../../src/app/checked-forms.ts";
import type { Form } from "../../src/providers/declared/form.ts";

const folder = () => mkdtempSync(join(tmpdir(), "svc-checked-"));
const pathOf = (directory: string) => join(directory, "checked-forms.json");
const form = (provider: string) =>
  ({ provider, form: 1, base: "https://a.example", auth: { none: true } }) as Form;

test("checked forms are there at the next start, for nobody else to read", () => {
  const directory = folder();
  const forms = new Map([["aa", form("one")]]);
  readCheckedForms(directory).keep(forms);
  expect(readCheckedForms(directory).known).toEqual(forms);
  expect(statSync(pathOf(directory)).mode & 0o777).toBe(0o600);
});

test("only the forms of the last look are remembered, and nothing is written while they stay", () => {
  const directory = folder();
  readCheckedForms(directory).keep(new Map());
  expect(existsSync(pathOf(directory))).toBe(false);
  readCheckedForms(directory).keep(new Map([["aa", form("one")]]));
  const written = statSync(pathOf(directory), { bigint: true }).mtimeNs;
  const again = readCheckedForms(directory);
  again.keep(new Map([["aa", form("one")]]));
  expect(statSync(pathOf(directory), { bigint: true }).mtimeNs).toBe(written);
  again.keep(new Map([["bb", form("two")]]));
  expect([...readCheckedForms(directory).known.keys()]).toEqual(["bb"]);
});

test("what another build has checked does not count", () => {
  const directory = folder();
  readCheckedForms(directory).keep(new Map([["aa", form("one")]]));
  const text = readFileSync(pathOf(directory), "utf8");
  writeFileSync(pathOf(directory), text.replace(/"build":"./, '"build":"-'));
  expect(readCheckedForms(directory).known.size).toBe(0);
});

test("a damaged file is none, and one that cannot be written holds up nothing", () => {
  const directory = folder();
  writeFileSync(pathOf(directory), "{");
  expect(readCheckedForms(directory).known.size).toBe(0);
  const blocked = folder();
  mkdirSync(`${pathOf(blocked)}.part`);
  readCheckedForms(blocked).keep(new Map([["aa", form("one")]]));
  expect(readCheckedForms(blocked).known.size).toBe(0);
});
