/* Macros: they run at build time, and their results become part of the executable, which cannot list folders. No list in source. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Manifest, toModel } from "./manifest.ts";

/** Every file in `models/`, by name: what it is called and what it says. */
export function builtInManifests(): readonly (readonly [file: string, content: unknown])[] {
  const folder = join(import.meta.dir, "models");
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => [file, Bun.YAML.parse(readFileSync(join(folder, file), "utf8"))]);
}

/**
 * The models that these files describe, as JSON, which a start reads in a third of the time that making them takes; and of each its
 * schema, two thirds of it all, which is read when it is asked for.
 */
export function builtInModelTexts(): { readonly models: string; readonly schemas: readonly string[] } {
  const all = builtInManifests().map(([, content]) => toModel(content as Manifest));
  return {
    models: JSON.stringify(all.map(({ schema: _, ...model }) => model)),
    schemas: all.map(({ schema }) => JSON.stringify(schema)),
  };
}
