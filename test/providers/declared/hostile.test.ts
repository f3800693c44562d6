import { expect, test } from "bun:test";
import { FormFileError, readForm } from "../../../src/providers/declared/read-form.ts";
import { edited, FORM, HOSTILE_FORMS } from "./hostile-forms.ts";

/** What is said of a form; empty for one that can be used. */
function told(text: string): string[] {
  try {
    readForm("hostile.yaml", text);
    return [];
  } catch (error) {
    if (!(error instanceof FormFileError)) throw error;
    return error.findings.map(({ line, message }) => `${line}: ${message}`);
  }
}

test("the form that the others are made of can be used", () => {
  expect(told(FORM)).toEqual([]);
});

test.each(HOSTILE_FORMS.map((each) => [each.name, each] as const))(
  "%s is refused where it stands",
  (_, each) => {
    expect(told(edited(each)).slice(0, 3).join("\n")).toContain(each.told);
  },
);
