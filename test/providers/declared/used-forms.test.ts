import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaneId } from "../../../src/domain/ids.ts";
import { defineDeclared } from "../../../src/providers/declared/definition.ts";
import { headOf } from "../../../src/providers/declared/head.ts";
import { loadForm } from "../../../src/providers/declared/loaded.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { createUsedForms } from "../../../src/providers/declared/used-forms.ts";
import { createAccounts } from "../../../src/providers/registry.ts";
import { createSecret } from "../../../src/toolkit/settings/secret.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { FORM } from "./hostile-forms.ts";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "svc-used-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

test.each([
  FORM,
  // To the runtime's parser this is a mapping to merge.
  FORM.replace("json: { text:", "json: { <<: { a: 1 }, text:"),
])("a form that was kept is found by the next process, as it was read: %#", (text) => {
  using kept = folder();
  const form = readForm("a.yaml", text);
  createUsedForms(kept.path).keep(loadForm(form, hashOf(text), text));
  const found = createUsedForms(kept.path).find(hashOf(text));
  expect({ form: found?.form, text: found?.text }).toEqual({ form, text });
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

test("the accounts of a provider keep its form once, whatever the provider's name, and not again after a start", async () => {
  using kept = folder();
  // A folder of the data folder has this name.
  const text = FORM.replace("provider: hostile", "provider: assets");
  const form = readForm("assets.yaml", text);
  const start = async () => {
    const loaded = loadForm(form, hashOf(text), text);
    const accounts = ["one", "two"].map((name) => ({
      ...{ name, lane: `assets/${name}` as LaneId, secrets: { key: createSecret("key-0123456789") } },
    }));
    const deps = { config: { dataDir: kept.path }, clock: fakeClock() };
    const definition = defineDeclared(headOf(form), async () => loaded);
    for (const adapter of await createAccounts(definition, { values: { concurrency: 1 }, accounts }, deps))
      adapter.terms?.();
  };
  await start();
  expect(readdirSync(kept.path)).toEqual(["provider-forms"]);
  const file = join(kept.path, "provider-forms", `${hashOf(text)}.yaml`);
  const { mtimeNs } = statSync(file, { bigint: true });
  await start();
  expect(statSync(file, { bigint: true }).mtimeNs).toBe(mtimeNs);
});
