import { type FileHandle, mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSystemError } from "../toolkit/system-error.ts";
import { type BackupHeader, type BackupSummary, freeBackupName, MANIFEST, surplusOf } from "./backup.ts";
import { ContentIndex } from "./content-index.ts";
import { type Content, copyNew, hashFile, inParallel, writeAll } from "./files.ts";
import { createManifest, type ManifestWriter } from "./manifest.ts";
import {
  BACKUPS,
  CONTENT,
  contentName,
  listShelf,
  manifestName,
  ownName,
  type Shelf,
  type Shelved,
} from "./shelf.ts";
import { requireSameOrigin, sweep } from "./shelf-sweep.ts";
import { type BackupPlan, isObject, type MadeBackup, type PlannedFile, tellAbsent } from "./write.ts";

/** A backup that was made on a shelf. */
export interface ShelvedBackup extends MadeBackup {
  /** Names of the old backups that were removed. */
  readonly removed: readonly string[];
}

/** A backup that is being written. */
interface Writing {
  readonly shelf: Shelf;
  readonly name: string;
  readonly workspace: string;
  readonly manifest: ManifestWriter;
  /** The contents that exist, by hash; those of this backup are marked. */
  readonly there: ContentIndex;
}

/**
 * Makes a backup on a shelf: sends the contents that are not there yet, and the manifest last. Then it removes the oldest backups
 * except `keep`, contents that no backup has any more, and remains of interrupted calls. An interrupted call leaves nothing that
 * looks like a backup.
 *
 * @param workspace an empty folder for the copy of the database
 * @throws what the shelf or the system says
 */
export async function writeToShelf(
  shelf: Shelf,
  order: {
    readonly workspace: string;
    readonly atMs: number;
    readonly plan: BackupPlan;
    readonly keep?: number | undefined;
  },
): Promise<ShelvedBackup> {
  const { workspace, atMs, plan, keep } = order;
  await shelf.requireOwn();
  const { backups, leftovers } = await listShelf(shelf);
  for (const prefix of [CONTENT, BACKUPS]) await shelf.abandon(prefix);
  await inParallel(leftovers, (name) => shelf.remove(name));
  using there = new ContentIndex(join(workspace, "contents"));
  for await (const { name, sizeBytes } of shelf.list(CONTENT))
    there.add(name.slice(CONTENT.length), sizeBytes);
  const name = freeBackupName(
    atMs,
    backups.map((each) => each.name),
  );
  const { summary, copiedBytes } = await fill({ shelf, name, workspace, there }, plan, {
    atMs,
    newest: backups.at(-1),
  });
  const names = backups.map((each) => each.name);
  const removed = keep === undefined ? [] : surplusOf(names, name, keep);
  const isOld = (each: Shelved) => removed.includes(each.name);
  const kept = backups.filter((each) => !isOld(each));
  await sweep(shelf, { old: backups.filter(isOld), kept, there });
  return { ...summary, name, path: `${shelf.where}${BACKUPS}${name}`, copiedBytes, removed };
}

async function fill(
  given: Pick<Writing, "shelf" | "name" | "workspace" | "there">,
  plan: BackupPlan,
  { atMs, newest }: { atMs: number; newest: Shelved | undefined },
): Promise<{ summary: BackupSummary; copiedBytes: number }> {
  const { shelf, name, workspace } = given;
  const copy = join(workspace, "database");
  plan.copyDatabase(copy);
  const header: BackupHeader = { ...plan.describe(copy), madeAtMs: atMs };
  if (newest !== undefined) await requireSameOrigin(shelf, newest, header);
  await mkdir(join(workspace, "own"), { mode: 0o700 });
  const lines = join(workspace, MANIFEST);
  const handle = await open(lines, "wx", 0o600);
  try {
    const manifest = createManifest((line) => writeAll(handle, Buffer.from(line)));
    const writing: Writing = { ...given, manifest };
    await manifest.begin(header);
    const database = await hashFile(copy);
    await putFile(shelf, ownName(name, database.sha256), copy, database);
    await manifest.file({ path: plan.database, ...database });
    let copiedBytes = database.sizeBytes;
    const absent: PlannedFile[] = [];
    await inParallel(plan.files(copy), async (file) => {
      const placed = await place(file, writing);
      if (placed === "absent") absent.push(file);
      else copiedBytes += placed;
    });
    await tellAbsent(absent, { plan, manifest, header });
    const counts = await manifest.end();
    await putFile(shelf, manifestName(name), lines, await hashFile(lines));
    return { summary: { ...header, ...counts }, copiedBytes };
  } finally {
    await handle.close();
  }
}

/** Sends one file to the shelf. @returns bytes that were sent, or that a file which the database names is missing */
async function place(file: PlannedFile, writing: Writing): Promise<number | "absent"> {
  const { manifest } = writing;
  const { path, from, expected } = file;
  if (isObject(file)) return await manifest.object(file.expected).then(() => 0);
  if (from === undefined) return "absent";
  try {
    if (expected === undefined) return await placeOwn(path, from, writing);
    return await placeShared(path, from, expected, writing);
  } catch (error) {
    if (!isSystemError(error) || error.code !== "ENOENT") throw error;
    // A file of the operator's may be removed at any time.
    return expected === undefined ? 0 : "absent";
  }
}

let copies = 0;

/** A file of the operator's may change while it is being sent, so a copy is sent. */
async function placeOwn(path: string, from: string, { shelf, name, workspace, manifest }: Writing) {
  const copy = join(workspace, "own", String(++copies));
  const content = await copyNew(from, copy);
  await putFile(shelf, ownName(name, content.sha256), copy, content);
  await manifest.file({ path, ...content });
  return content.sizeBytes;
}

async function placeShared(path: string, from: string, expected: Content, writing: Writing): Promise<number> {
  const { shelf, manifest, there } = writing;
  const { sha256, sizeBytes } = expected;
  let sent = 0;
  if (there.sizeOf(sha256) !== sizeBytes) {
    const found = await hashFile(from);
    if (found.sha256 !== sha256) return await manifest.missing({ path, reason: "damaged" }).then(() => 0);
    // Nothing replaces what is there, and has another length.
    if (there.remove(sha256)) await shelf.remove(contentName(sha256));
    await putFile(shelf, contentName(sha256), from, found);
    sent = sizeBytes;
  }
  there.mark(sha256);
  await manifest.file({ path, ...expected, isShared: true });
  return sent;
}

async function putFile(
  shelf: Shelf,
  name: string,
  path: string,
  { sha256, sizeBytes }: Content,
): Promise<void> {
  const handle = await open(path, "r");
  try {
    const size = (await stat(path)).size;
    if (size !== sizeBytes)
      throw new Error(`${path} was changed while it was backed up. Repeat the command.`);
    await shelf.put(name, { sha256, sizeBytes, read: (at, length) => readAt(handle, at, length) });
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) throw new Error("A file became shorter while it was backed up. Repeat the command.");
    done += bytesRead;
  }
  return bytes;
}
