/* Macros: they run at build time, and their results become part of the executable, which cannot list folders. No list in source. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Form } from "./form.ts";
import { type Head, headOf } from "./head.ts";

/** A form that comes along. */
export interface BuiltInForm {
  /** SHA-256 of its text. */
  readonly hash: string;
  readonly text: string;
  readonly form: Form;
}

/** What must be known of each form before it is used, in the order of their files. */
export function builtInHeads(): readonly Head[] {
  return texts().map(([, text]) => headOf(Bun.YAML.parse(text) as Form));
}

/** Every form beside this file, by the id of its provider. A test checks them, so nothing is checked when they are used. */
export function builtInForms(): Readonly<Record<string, BuiltInForm>> {
  const forms = texts().map(([, text]): [string, BuiltInForm] => {
    const form = Bun.YAML.parse(text) as Form;
    return [form.provider, { form, text, hash: createHash("sha256").update(text).digest("hex") }];
  });
  return Object.fromEntries(forms);
}

function texts(): [file: string, text: string][] {
  const files = readdirSync(import.meta.dir).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => [file, readFileSync(join(import.meta.dir, file), "utf8")]);
}
