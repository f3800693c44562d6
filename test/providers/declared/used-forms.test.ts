import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { createUsedForms } from "../../../src/providers/declared/used-forms.ts";
import { FORM } from "./hostile-forms.ts";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "svc-used-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

test("a form that was kept is found by the next process, as it was read", () => {
  using kept = folder();
  const form = readForm("a.yaml", FORM);
  createUsedForms(kept.path).keep(loadForm(form, hashOf(FORM), FORM));
  const found = createUsedForms(kept.path).find(hashOf(FORM));
  expect({ form: found?.form, text: found?.text }).toEqual({ form, text: FORM });
  expect(found?.compiled().flows).toHaveLength(1);
});

test("a text that was changed, or that no form can be made of, is not found", () => {
  using kept = folder();
  for (const [name, text] of [
    [hashOf(FORM), FORM.replace("named", "evil")],
    [hashOf("form: 1"), "form: 1"],
    [hashOf("a: [1"), "a: [1"],
  ] as const) {
    writeFileSync(join(kept.path, `${name}.yaml`), text);
    expect(createUsedForms(kept.path).find(name)).toBeUndefined();
  }
  expect(createUsedForms(kept.path).find("../../secrets")).toBeUndefined();
});
