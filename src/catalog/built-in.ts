/*
 * A macro: it runs when the file that calls it is transpiled or bundled, and its result becomes part of that code. That is how
 * the executable, inside which no folder can be listed, knows every manifest without a list in source.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file in `models/`, by name: what it is called and what it says. */
export function builtInManifests(): readonly (readonly [file: string, content: unknown])[] {
  const folder = join(import.meta.dir, "models");
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => [file, Bun.YAML.parse(readFileSync(join(folder, file), "utf8"))]);
}
