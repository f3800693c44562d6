import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Form } from "../../../src/providers/declared/form.ts";
import { type ExampleRun, runExample } from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";

const FOLDER = join(import.meta.dir, "../../../src/providers/declared");

/** The names of the files of forms that come along. */
export const FORM_FILES: readonly string[] = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));

export const textOf = (file: string): string => readFileSync(join(FOLDER, file), "utf8");

/** A form that comes along, by the name of its file. The tests of examples check it, which takes longer than most tests of a form. */
export function builtInForm(file: string): Form {
  return Bun.YAML.parse(textOf(file)) as Form;
}

/** Runs an example of a form against an upstream that answers as the example says. */
export function run(form: Form, name: string): Promise<ExampleRun> {
  const example = form.examples?.find((each) => each.name === name);
  if (example === undefined) throw new Error(`${form.provider} has no example "${name}"`);
  return runExample(form, example, { clock: fakeClock() });
}
