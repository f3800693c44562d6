import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../../src/domain/json.ts";
import type { Context } from "../context.ts";
import { userFolder } from "../user-folder.ts";
import type { Candidate } from "./candidates.ts";

/** Long enough for a few presses of the Tab key, short enough for a task that was just made. */
const FRESH_MS = 5_000;

/** What `read` returns, or what it returned a moment ago. The key is hashed: it holds a credential. */
export async function cached(
  context: Pick<Context, "env">,
  key: readonly string[],
  read: () => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const caches = userFolder(context, "XDG_CACHE_HOME", ".cache");
  if (caches === undefined) return await read();
  const folder = join(caches, "svc");
  const hash = new Bun.CryptoHasher("sha256").update(key.join("\n")).digest("hex").slice(0, 24);
  const path = join(folder, `complete-${hash}.json`);
  const known = stored(path);
  if (known !== undefined) return known;
  const candidates = await read();
  keep(folder, path, candidates);
  return candidates;
}

function stored(path: string): readonly Candidate[] | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isJsonObject(value) || typeof value.at !== "number" || !Array.isArray(value.candidates))
      return undefined;
    const age = Date.now() - value.at;
    // This program wrote the list; age is negative after the clock was set back.
    return age >= 0 && age < FRESH_MS ? (value.candidates as unknown as readonly Candidate[]) : undefined;
  } catch {
    // Not there, or cut off: it is written again.
    return undefined;
  }
}

function keep(folder: string, path: string, candidates: readonly Candidate[]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const partial = `${path}.${process.pid}`;
    writeFileSync(partial, JSON.stringify({ at: Date.now(), candidates }), { mode: 0o600 });
    renameSync(partial, path);
  } catch {
    // If the home folder cannot be written, the next press asks the server again.
  }
}
