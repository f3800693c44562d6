import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockHolder } from "../runtime/directory-lock.ts";
import { giveToFolderOwner } from "../runtime/folder-owner.ts";
import { SERVING } from "./folder-contents.ts";

/**
 * Tells commands on the data folder where its server is reached. What a server that was killed has left counts for nothing.
 *
 * @returns what takes it back
 */
export function noteServing(dataDir: string, origin: string): () => void {
  const path = join(dataDir, SERVING);
  const forget = () => rmSync(path, { force: true });
  try {
    // An earlier one may have other rights.
    forget();
    writeFileSync(path, `${JSON.stringify({ origin })}\n`, { mode: 0o600 });
    giveToFolderOwner(path);
  } catch {
    // A disk that is full keeps no server from serving: commands go by the settings then.
  }
  return forget;
}

/** Where the server that runs on a data folder is reached; undefined where none does, or it does not say. */
export function servingAt(dataDir: string): string | undefined {
  if (!lockHolder(dataDir).isHeld) return undefined;
  try {
    const told: unknown = JSON.parse(readFileSync(join(dataDir, SERVING), "utf8"));
    const isTold = typeof told === "object" && told !== null && "origin" in told;
    return isTold && typeof told.origin === "string" && URL.canParse(told.origin) ? told.origin : undefined;
  } catch {
    // An earlier version does not write it, and one that starts has not yet.
    return undefined;
  }
}
