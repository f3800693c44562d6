import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Findings } from "./findings.ts";

export interface FileTally {
  readonly referenced: number;
  /** Whole content files no asset names: made by work whose transaction a kill forestalled. */
  readonly unreferenced: number;
  readonly unreferencedBytes: number;
}

export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Every asset has its file, every file is whole, and nothing temporary is left. */
export function checkFiles(
  db: Database,
  assetDirectory: string,
  kills: number,
  findings: Findings,
): FileTally {
  const temporary = filesBelow(join(assetDirectory, "tmp"));
  findings.check(
    temporary.length === 0,
    () => `${temporary.length} temporary files are left, the first ${temporary[0]}`,
  );

  const assets = db
    .query<{ sha256: string; size_bytes: number }, []>("SELECT DISTINCT sha256, size_bytes FROM asset")
    .all();
  const named = new Map(assets.map(({ sha256, size_bytes }) => [sha256, size_bytes]));
  let unreferenced = 0;
  let unreferencedBytes = 0;
  const content = filesBelow(join(assetDirectory, "sha256"));
  for (const file of content) {
    const bytes = readFileSync(file);
    const hash = createHash("sha256").update(bytes).digest("hex");
    findings.check(hash === basename(file), () => `${file} holds other bytes than its name says`);
    const size = named.get(hash);
    if (size === undefined) {
      unreferenced++;
      unreferencedBytes += bytes.length;
    } else {
      findings.check(size === bytes.length, () => `${file} has ${bytes.length} bytes, stored is ${size}`);
      named.delete(hash);
    }
  }
  findings.check(
    named.size === 0,
    () => `${named.size} assets have no file, the first ${[...named.keys()][0]}`,
  );
  // A kill can leave behind what was in flight at that moment and no more.
  const bound = kills * IN_FLIGHT_AT_A_KILL;
  findings.check(
    unreferenced <= bound,
    () => `${unreferenced} files are named by no asset; ${kills} kills explain at most ${bound}`,
  );
  return { referenced: content.length - unreferenced, unreferenced, unreferencedBytes };
}

/** Creates with inline inputs and finalizing tasks that one kill can forestall. */
const IN_FLIGHT_AT_A_KILL = 16;

export function sizeOf(folder: string): { files: number; bytes: number } {
  const files = filesBelow(folder);
  return { files: files.length, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}
