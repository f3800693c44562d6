import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { BackupRefused, type BackupSummary, DATA, MANIFEST, timeOfBackup } from "../../backup/backup.ts";
import { hashFile } from "../../backup/files.ts";
import { readManifest, readManifestOf } from "../../backup/manifest.ts";
import { BACKUPS, listShelf, ownName } from "../../backup/shelf.ts";
import { listBackups } from "../../backup/write.ts";
import { type BucketConfig, isBucketUrl, parseBucketUrl } from "../../config/buckets.ts";
import type { Config } from "../../config/config.ts";
import { fileSystemOf } from "../../runtime/mounts.ts";
import { bucketPlace, openShelfToRead, otherOwnerOf } from "../backup-places.ts";
import { databaseOf } from "../data-folder.ts";
import { DATABASE } from "../folder-contents.ts";
import { reachChecks } from "./bucket.ts";
import { mayWrite, remountFix, writeFault } from "./environment.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/** Looks at the backups that a server makes by itself: their place, the age of the newest, and whether it can be read. */
export async function backupChecks(config: Config, now: number): Promise<Finding[]> {
  const { everyMs, to } = config.backup;
  if (to === undefined || everyMs === undefined)
    return [ok("backups", "The server makes no backups by itself (backup.every is off).")];
  if (!existsSync(databaseOf(config))) return [ok("backups", "There is nothing to back up yet.")];
  return isBucketUrl(to)
    ? await inBucket(config, { to, everyMs, now })
    : await inFolder(config, { to: resolve(to), everyMs, now });
}

/** Whether the disk that backups need room on has some. */
export function backupRoom(config: Config): Finding[] {
  const { everyMs, to } = config.backup;
  if (to === undefined || everyMs === undefined) return [];
  if (isBucketUrl(to)) return [roomCheck(config, config.dataDir, "--data-dir")];
  // The check of the backup itself reports that it is missing.
  return existsSync(to) ? [roomCheck(config, resolve(to), "backup.to")] : [];
}

interface Look {
  readonly to: string;
  readonly everyMs: number;
  readonly now: number;
}

async function inFolder(config: Config, look: Look): Promise<Finding[]> {
  const { to } = look;
  const shown = quoted(to);
  if (!existsSync(to))
    return [
      error(
        "backup_place",
        `The folder ${to} is not there, and nothing is backed up.`,
        `mkdir -p -m 700 ${shown}   # or mount its disk`,
      ),
    ];
  if (writeFault(to) === "read_only") {
    const text = `The file system of ${to} is mounted read-only, and nothing is backed up.`;
    return [error("backup_place", text, remountFix(to, "choose another backup.to"))];
  }
  if (!statSync(to).isDirectory() || !mayWrite(to))
    return [error("backup_place", `This user may not write to ${to}.`, `sudo chown -R "$(id -un)" ${shown}`)];
  const newest = (await listBackups(to)).at(-1);
  const place = ok("backup_place", `${to} can be written to.`);
  const findings = [place, roomCheck(config, to, "backup.to"), ageCheck(config, look, newest)];
  if (newest === undefined) return findings;
  const path = join(to, newest);
  const read = async () => {
    const summary = await readManifest(join(path, MANIFEST), {
      async file({ path: name, sha256 }) {
        if (name !== DATABASE) return;
        const found = await hashFile(join(path, DATA, name));
        if (found.sha256 !== sha256)
          throw new BackupRefused(`Its ${DATABASE} has other bytes than were backed up.`);
      },
    });
    return summary;
  };
  return [...findings, await newestCheck(path, look, read)];
}

async function inBucket(config: Config, look: Look): Promise<Finding[]> {
  const { to, now } = look;
  const { service } = config.backup;
  const parsed = parseBucketUrl(to);
  if ("expected" in parsed) return [];
  const bucket: BucketConfig = { ...service, ...parsed };
  const use = { id: "backup_bucket", bucket, settings: "backup", nameSetting: "backup.to" } as const;
  const reached = await reachChecks(use, now);
  if (reached.some(({ id, status }) => id === use.id && status === "error")) return reached;
  const place = bucketPlace(to, service);
  const findings = [...reached, roomCheck(config, config.dataDir, "--data-dir")];
  const other = await otherOwnerOf(place, config);
  if (other !== undefined) {
    const text = `The backups in ${to} belong to ${other}: nothing of this data folder is backed up there.`;
    const claim = `svc db backup ${to} --claim --data-dir ${quoted(config.dataDir)}`;
    const fix = `${claim}   # where the other is stopped for good; else another backup.to`;
    return [...findings, error("backup_owner", text, fix)];
  }
  findings.push(ok("backup_owner", "The place of the backups is no other data folder's."));
  const shelf = await openShelfToRead(place);
  const newest = (await listShelf(shelf)).backups.at(-1);
  findings.push(ageCheck(config, look, newest?.name));
  if (newest === undefined) return findings;
  const read = async () => {
    let database = "";
    const summary = await readManifestOf(shelf.read(newest.manifest), {
      file({ path, sha256 }) {
        if (path === DATABASE) database = ownName(newest.name, sha256);
      },
    });
    for await (const { name } of shelf.list(database)) if (name === database) return summary;
    throw new BackupRefused(`Its ${DATABASE} is not there.`);
  };
  return [...findings, await newestCheck(`${shelf.where}${BACKUPS}${newest.name}`, look, read)];
}

/** Each backup begins with a copy of the database. */
function roomCheck(config: Config, where: string, setting: string): Finding {
  const needed = statSync(databaseOf(config)).size;
  const { freeBytes } = fileSystemOf(where);
  const free = `${Math.floor(freeBytes / MIB)} MiB`;
  if (freeBytes > needed * 1.1) return ok("backup_room", `The disk of ${where} has ${free} for backups.`);
  const text = `The disk of ${where} has ${free} left, and a copy of the database needs ${Math.ceil(needed / MIB)} MiB.`;
  return error("backup_room", text, `Free some space there, lower backup.keep, or change ${setting}.`);
}

function ageCheck(config: Config, { to, everyMs, now }: Look, newest: string | undefined): Finding {
  const fix = `svc db backup ${quoted(to)} --keep ${config.backup.keep} --data-dir ${quoted(config.dataDir)}`;
  const at = newest === undefined ? undefined : timeOfBackup(newest);
  if (at === undefined) return warn("backups", `There is no backup in ${to} yet.`, fix);
  const made = `The newest backup is of ${new Date(at).toISOString()}`;
  const minutes = Math.round((now - at) / MINUTE_MS);
  if (now - at <= everyMs * 1.5 + MINUTE_MS) return ok("backups", `${made}.`);
  const text = `${made}, ${minutes} minutes ago, and one is due every ${Math.round(everyMs / MINUTE_MS)}: no server runs, or it cannot make one.`;
  return warn("backups", text, fix);
}

/** Reads the most informative parts: the manifest and the database. `svc db check` reads everything. */
async function newestCheck(path: string, { to }: Look, read: () => Promise<BackupSummary>): Promise<Finding> {
  try {
    const { files, objects } = await read();
    const elsewhere = objects === 0 ? "" : `, and names ${objects} in the bucket of the service`;
    return ok("backup_newest", `The newest backup can be read: it has ${files} files${elsewhere}.`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const fix = `svc db check ${quoted(to)}   # tells all that is wrong; then svc db backup ${quoted(to)}`;
    return error("backup_newest", `The newest backup ${path} cannot be used. ${why}`, fix);
  }
}
