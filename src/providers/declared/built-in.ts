/* A macro: it runs at build time, and its result becomes part of the executable, which cannot list folders. No list in source. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the forms that come along. */
export interface BuiltInForm {
  readonly file: string;
  /** SHA-256 of its text. */
  readonly hash: string;
  readonly content: unknown;
}

/** Every form beside this file, by name. */
export function builtInForms(): readonly BuiltInForm[] {
  const files = readdirSync(import.meta.dir).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => {
    const text = readFileSync(join(import.meta.dir, file), "utf8");
    const hash = createHash("sha256").update(text).digest("hex");
    return { file, hash, content: Bun.YAML.parse(text) };
  });
}
