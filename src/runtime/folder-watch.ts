import { type BigIntStats, statSync } from "node:fs";
import type { Clock } from "../domain/ports/runtime.ts";

const LOOK_EVERY_MS = 1_000;
/** Codes of a path that leads nowhere any more. ESTALE: a network file system no longer knows the file. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ESTALE"]);

/**
 * Looks once a second whether the files and folders at these paths are still those that were there first. Writes to an open file
 * that was moved or deleted succeed, and would be lost to whoever opens the path later.
 *
 * @param paths one that does not exist yet counts from its first sight
 * @param onGone called once, with the path
 * @returns how to stop
 */
export function watchFolder(
  paths: readonly string[],
  deps: { readonly clock: Pick<Clock, "after">; readonly onGone: (path: string) => void },
): () => void {
  const first = new Map<string, string>();
  let cancelTimer = () => {};

  function isSame(path: string): boolean {
    const present = identityOf(path);
    const known = first.get(path);
    if (present === "unknown") return true;
    if (known === undefined && present !== "gone") first.set(path, present);
    return known === undefined || known === present;
  }

  function look(): void {
    const gone = paths.find((path) => !isSame(path));
    if (gone === undefined) cancelTimer = deps.clock.after(LOOK_EVERY_MS, look);
    else deps.onGone(gone);
  }

  look();
  return () => cancelTimer();
}

function identityOf(path: string): string {
  try {
    const { dev, ino }: BigIntStats = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return GONE.has(code) ? "gone" : "unknown";
  }
}
