/* A macro: it runs at build time, and its result becomes part of the executable. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** SHA-256 of everything that decides which forms are accepted: the sources, and the versions of the libraries. */
export function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  for (const path of [...paths, join(ROOT, "bun.lock")]) hash.update(readFileSync(path));
  return hash.digest("hex");
}
