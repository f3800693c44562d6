import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BackupProblem, BackupRefused, type BackupSummary, DATA, MANIFEST, newestOf } from "./backup.ts";
import { ContentIndex } from "./content-index.ts";
import { type Content, createFolders, writeNew } from "./files.ts";
import { readManifest } from "./manifest.ts";
import { type AllowedPaths, eachFile, isAllowed, MOST_PROBLEMS } from "./read.ts";
import { BACKUPS, CONTENT, contentName, listShelf, ownName, type Shelf, type Shelved } from "./shelf.ts";

/** @param given the name of one backup; the newest unless given. @throws BackupRefused where there is none, or which is the newest cannot be told */
export async function findOnShelf(shelf: Shelf, now: number, given?: string | undefined): Promise<Shelved> {
  const { backups, leftovers } = await listShelf(shelf);
  const names = backups.map((each) => each.name);
  const name = given ?? newestOf(names, now, `${shelf.where}${BACKUPS}`);
  const found = backups.find((each) => each.name === name);
  if (found !== undefined) return found;
  const isCut = name !== undefined && leftovers.some((each) => each.includes(`/${name}/`));
  throw new BackupRefused(
    isCut
      ? `The backup ${name} in ${shelf.where} is no whole one: it has no ${MANIFEST}, which is written last.`
      : `There is no backup ${name === undefined ? "of svc" : name} in ${shelf.where}.`,
  );
}

/**
 * Reads a whole backup of a shelf and compares every file with the manifest.
 *
 * @param to an empty folder. With `keepsAll` it becomes the backup as `writeBackup` makes one; else it gets the manifest and `database`
 * @throws BackupRefused with what is wrong, and where
 */
export async function fetchFromShelf(
  shelf: Shelf,
  { name, manifest }: Shelved,
  to: string,
  { allowed, keepsAll, database }: { allowed: AllowedPaths; keepsAll: boolean; database: string },
): Promise<BackupSummary> {
  const problems: BackupProblem[] = [];
  let count = 0;
  const tell = (path: string, problem: string) => {
    count += 1;
    if (problems.length < MOST_PROBLEMS) problems.push({ path, problem });
  };
  const root = join(to, DATA);
  await mkdir(root, { recursive: true, mode: 0o700 });
  await writeNew(join(to, MANIFEST), shelf.read(manifest));
  // The manifest is read first and alone, because what a damaged one says about files means nothing.
  const summary = await readManifest(join(to, MANIFEST));
  using sizes = await indexOf(shelf, name, join(to, "objects.part"));
  const folders = createFolders(root);
  await eachFile(to, async (file) => {
    if (!isAllowed(file.path, allowed)) return tell(file.path, "is no file of a data folder");
    const object = file.isShared === true ? contentName(file.sha256) : ownName(name, file.sha256);
    const sizeBytes = sizes.sizeOf(object);
    if (sizeBytes === undefined) return tell(file.path, `is not there: ${object}`);
    if (sizeBytes !== file.sizeBytes)
      return tell(file.path, `has ${sizeBytes} bytes, and must have ${file.sizeBytes}: ${object}`);
    const content = shelf.read({ name: object, sizeBytes });
    const isKept = keepsAll || file.path === database;
    if (isKept) await folders.forFile(join(root, file.path));
    const found = isKept ? await writeNew(join(root, file.path), content) : await hash(content);
    if (found.sha256 !== file.sha256) tell(file.path, `has other bytes than were backed up: ${object}`);
  });
  if (keepsAll) await folders.flushAll();
  if (count === 0) return summary;
  const what = count === 1 ? "a file is" : `${count} files are`;
  throw new BackupRefused(
    `The backup ${name} in ${shelf.where} is damaged: ${what} not what the manifest says. What is shared between backups and is damaged can be deleted in the bucket: the next backup sends it anew.`,
    problems,
  );
}

async function indexOf(shelf: Shelf, name: string, path: string): Promise<ContentIndex> {
  const index = new ContentIndex(path);
  for (const prefix of [CONTENT, ownName(name, "")])
    for await (const object of shelf.list(prefix)) index.add(object.name, object.sizeBytes);
  return index;
}

async function hash(content: AsyncIterable<Uint8Array>): Promise<Content> {
  const hasher = new Bun.CryptoHasher("sha256");
  let sizeBytes = 0;
  for await (const piece of content) {
    hasher.update(piece);
    sizeBytes += piece.length;
  }
  return { sizeBytes, sha256: hasher.digest("hex") };
}

/** The files that a backup names in its service's bucket and that are missing there or have another length. */
export async function lostObjects(path: string, there: AsyncIterable<Content>): Promise<string[]> {
  using wanted = new ContentIndex(":memory:");
  await readManifest(join(path, MANIFEST), {
    object: ({ sha256, sizeBytes }) => wanted.add(sha256, sizeBytes),
  });
  for await (const { sha256, sizeBytes } of there)
    if (wanted.sizeOf(sha256) === sizeBytes) wanted.mark(sha256);
  return [...wanted.unmarked()];
}
