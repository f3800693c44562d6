import { type BackupHeader, BackupRefused } from "./backup.ts";
import type { ContentIndex } from "./content-index.ts";
import { inParallel } from "./files.ts";
import { headerOf, readManifestOf } from "./manifest.ts";
import { BACKUPS, contentName, type Shelf, type Shelved } from "./shelf.ts";
import { ForeignBackups } from "./write.ts";

/** Refuses a shelf whose newest backup belongs to another service, whoever owns the shelf now. */
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
 * Removes old backups, the manifest of each first, and then the contents that no backup contains any more. If a remaining manifest
 * cannot be read, contents stay.
 *
 * @param there the contents on the shelf, by hash; those of the backup that was just made are marked
 */
export async function sweep(
  shelf: Shelf,
  { old, kept, there }: { old: Shelved[]; kept: Shelved[]; there: ContentIndex },
): Promise<void> {
  for (const { name, manifest } of old) {
    await shelf.remove(manifest.name);
    for await (const { name: part } of shelf.list(`${BACKUPS}${name}/`)) await shelf.remove(part);
  }
  // A new backup shares most contents with the previous one, so few manifests are read.
  for (const { manifest } of kept.toReversed()) {
    if (!there.hasUnmarked()) return;
    const file = ({ sha256 }: { sha256: string }) => there.mark(sha256);
    const isRead = await readManifestOf(shelf.read(manifest), { file }).catch(forgiven);
    if (isRead === undefined) return;
  }
  await inParallel(there.unmarked(), (sha256) => shelf.remove(contentName(sha256)));
}

/** A damaged backup is reported when it is read. Nothing that it may contain is removed meanwhile. */
function forgiven(error: unknown): undefined {
  if (error instanceof BackupRefused) return undefined;
  throw error;
}
