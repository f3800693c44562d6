/* A macro: it runs at build time, and its result becomes part of the executable, which cannot list folders. No list in source. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file in `models/`, by name: what it is called and what it says. */
export function builtInManifests(): readonly (readonly [file: string, content: unknown])[] {
  const folder = join(import.meta.dir, "models");
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => [file, Bun.YAML.parse(readFileSync(join(folder, file), "utf8"))]);
}
