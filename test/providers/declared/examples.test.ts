import { describe, expect, test } from "bun:test";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { REHEARSED_SECRET } from "../../../src/providers/declared/rehearsal/example.ts";
import { builtInForm, FORM_FILES, run, textOf } from "./harness.ts";

describe.each([...FORM_FILES])("%s", (file) => {
  const form = builtInForm(file);

  test("has no fault, and is what the other tests take it for", () => {
    expect(readForm(file, textOf(file))).toEqual(form);
  });

  test("is named for its provider", () => {
    expect(file).toBe(`${form.provider}.yaml`);
  });

  test.each((form.examples ?? []).map(({ name }) => name))("example: %s", async (name) => {
    const { differences, arrived } = await run(form, name);
    expect(differences).toEqual([]);
    // The key is in headers, or in the query where the form says so, and never in a body.
    for (const { body } of arrived) expect(new TextDecoder().decode(body)).not.toContain(REHEARSED_SECRET);
  });
});
