import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ROOT } from "./steps.ts";

const FOLDERS = ["src", "cli", "console", "test"];
const SOURCE = /\.tsx?$/;

/** The files that import each file, by paths below the repository. */
export type Importers = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads who imports whom. Imports of types alone do not count: `tsc` checks those. */
export function readImporters(): Importers {
  const transpilers = {
    ts: new Bun.Transpiler({ loader: "ts" }),
    tsx: new Bun.Transpiler({ loader: "tsx" }),
  };
  const importers = new Map<string, Set<string>>();
  for (const path of sources()) {
    importers.set(path, importers.get(path) ?? new Set());
    const transpiler = path.endsWith("x") ? transpilers.tsx : transpilers.ts;
    for (const { path: specifier } of transpiler.scanImports(readSource(path))) {
      if (!specifier.startsWith(".")) continue;
      const target = relative(ROOT, resolve(ROOT, dirname(path), specifier));
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  return importers;
}

/** How many imports lie between each file that a change reaches and the nearest changed file. */
export function distances(importers: Importers, changed: readonly string[]): Map<string, number> {
  const reached = new Map(changed.flatMap((path) => starts(importers, path)).map((path) => [path, 0]));
  for (const [path, distance] of reached)
    for (const importer of importers.get(path) ?? [])
      if (!reached.has(importer)) reached.set(importer, distance + 1);
  return reached;
}

/** A file that nobody imports by name, such as data, stands for the sources of the nearest folder that has some. */
function starts(importers: Importers, path: string): string[] {
  if (importers.has(path)) return [path];
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const neighbours = [...importers.keys()].filter((each) => dirname(each) === folder && SOURCE.test(each));
    if (neighbours.length > 0) return neighbours;
  }
  return [];
}

/** The transpiler takes no `#!` line. */
function readSource(path: string): string {
  return readFileSync(join(ROOT, path), "utf8").replace(/^#!.*/, "");
}

function sources(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => SOURCE.test(name))
      .map((name) => join(folder, name)),
  );
}
