import { describe, expect, test } from "bun:test";
import { MAX_OUTPUT_BYTES } from "../../../src/domain/limits.ts";
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

  test("answers that hold pictures may be as large as pictures may be, and have the time for it", () => {
    const flows = Object.values(form.flows ?? { "": {} }).map((flow) => ({ ...form, ...flow }));
    const outputs = flows.flatMap(({ submit, poll }) => [submit?.outputs, poll?.outputs]);
    if (!outputs.some((each) => each?.base64 !== undefined || each?.bytes === true)) return;
    const isBase64 = outputs.some((each) => each?.base64 !== undefined);
    const { answer_mb = 64, body_seconds = 120 } = form.limits ?? {};
    expect(answer_mb * 1024 * 1024).toBeGreaterThanOrEqual(MAX_OUTPUT_BYTES.image * (isBase64 ? 4 / 3 : 1));
    expect(body_seconds).toBeGreaterThanOrEqual(300);
  });

  test.each((form.examples ?? []).map(({ name }) => name))("example: %s", async (name) => {
    const { differences, arrived } = await run(form, name);
    expect(differences).toEqual([]);
    // The key is in headers, or in the query where the form says so, and never in a body.
    for (const { body } of arrived) expect(new TextDecoder().decode(body)).not.toContain(REHEARSED_SECRET);
  });
});
