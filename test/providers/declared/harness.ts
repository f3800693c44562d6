import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Form } from "../../../src/providers/declared/form.ts";
import { readForm } from "../../../src/providers/declared/read-form.ts";
import { type ExampleRun, runExample } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";

const FOLDER = join(import.meta.dir, "../../../src/providers/declared");

/** The names of the files of forms that come along. */
export const FORM_FILES: readonly string[] = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));

/** A form that comes along, by the name of its file. */
export function builtInForm(file: string): Form {
  return readForm(file, readFileSync(join(FOLDER, file), "utf8"));
}

/** Runs an example of a form against an upstream that answers as the example says. */
export function run(form: Form, name: string): Promise<ExampleRun> {
  const example = form.examples?.find((each) => each.name === name);
  if (example === undefined) throw new Error(`${form.provider} has no example "${name}"`);
  return runExample(form, example, { clock: fakeClock() });
}
