import { type BackupHeader, BackupRefused } from "./backup.ts";
import { inParallel } from "./files.ts";
import { headerOf, readManifestOf } from "./manifest.ts";
import { BACKUPS, contentName, type Shelf, type Shelved } from "./shelf.ts";
import { ForeignBackups } from "./write.ts";

/** Refuses a shelf whose newest backup is of another service, whoever has the shelf now. */
export async function requireSameOrigin(
  shelf: Shelf,
  newest: Shelved,
  { source }: Pick<BackupHeader, "source">,
): Promise<void> {
  const before = await headerOf(shelf.read(newest.manifest)).catch(forgiven);
  if (before?.source === undefined || source === undefined || before.source === source) return;
  throw new ForeignBackups(
    `${shelf.where} has backups of another data folder. Give each data folder a place of its own for its backups.`,
  );
}

/**
 * Removes old backups, the manifest of each first, and then the contents that none has any more. Where a manifest that stays cannot be
 * read, contents stay.
 *
 * @param there the contents on the shelf, by hash
 * @param used the hashes that the backup just made has
 */
export async function sweep(
  shelf: Shelf,
  {
    old,
    kept,
    there,
    used,
  }: { old: Shelved[]; kept: Shelved[]; there: Map<string, number>; used: Set<string> },
): Promise<void> {
  for (const { name, manifest } of old) {
    await shelf.remove(manifest.name);
    for await (const { name: part } of shelf.list(`${BACKUPS}${name}/`)) await shelf.remove(part);
  }
  const unused = new Set(there.keys()).difference(used);
  // What is new mostly has what is left of the one before: few manifests are read.
  for (const { manifest } of kept.toReversed()) {
    if (unused.size === 0) return;
    const file = ({ sha256 }: { sha256: string }) => void unused.delete(sha256);
    const isRead = await readManifestOf(shelf.read(manifest), { file }).catch(forgiven);
    if (isRead === undefined) return;
  }
  await inParallel(unused, (sha256) => shelf.remove(contentName(sha256)));
}

/** A backup that is damaged is told when it is read. Nothing that it may have is removed meanwhile. */
function forgiven(error: unknown): undefined {
  if (error instanceof BackupRefused) return undefined;
  throw error;
}
