/*
 * Runs while the code that calls it is transpiled or bundled, and never at run time: what it returns becomes part of that code.
 * So a manifest is found by lying in the folder, also by the executable, inside which no folder can be read.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file in `models/`, by name: what it is called and what it says. */
export function builtInManifests(): readonly (readonly [file: string, content: unknown])[] {
  const folder = join(import.meta.dir, "models");
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => [file, Bun.YAML.parse(readFileSync(join(folder, file), "utf8"))]);
}
