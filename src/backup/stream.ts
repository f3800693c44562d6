import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSystemError } from "../toolkit/system-error.ts";
import { BackupRefused, type BackupSummary, DATA, MANIFEST, PARTIAL } from "./backup.ts";
import { copyNew, hashOpen, pieces, writeAll, writeNew } from "./files.ts";
import { createManifest, type ManifestWriter } from "./manifest.ts";
import { type AllowedPaths, isAllowed } from "./read.ts";
import { padding, readTar, type TarEntry, TarError, tarEnd, tarHeader } from "./tar.ts";
import { type BackupPlan, isObject, type PlannedFile, tellAbsent } from "./write.ts";

/**
 * Writes a backup as one tar archive, the manifest last.
 *
 * @param workspace an empty folder for the copy of the database
 * @throws what the system says; then the archive has no manifest
 */
export async function writeArchive(
  workspace: string,
  madeAtMs: number,
  plan: BackupPlan,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<BackupSummary> {
  const copy = join(workspace, plan.database);
  plan.copyDatabase(copy);
  const header = { ...plan.describe(copy), madeAtMs };
  const lines = join(workspace, `${MANIFEST}${PARTIAL}`);
  const handle = await open(lines, "wx", 0o600);
  const sent = new Set<string>();
  const absent: PlannedFile[] = [];
  try {
    const manifest = createManifest((line) => writeAll(handle, Buffer.from(line)));
    const writing: Writing = { workspace, madeAtMs, manifest, write };
    await manifest.begin(header);
    await sendFrom(copy, { path: plan.database }, writing);
    for (const file of plan.files(copy)) {
      const { path, from } = file;
      if (sent.has(path)) continue;
      if (isObject(file)) await manifest.object(file.expected);
      if (from === undefined) continue;
      const outcome = await sendPlanned({ ...file, from }, writing);
      if (outcome === "sent") sent.add(path);
      // A file of the operator's may be removed at any time.
      else if (file.expected === undefined) continue;
      else if (outcome === "absent") absent.push(file);
      else await manifest.missing({ path, reason: outcome });
    }
    await tellAbsent(absent, { plan, manifest, header });
    const counts = await manifest.end();
    const whole = await open(lines, "r");
    await sendOpen(whole, { path: MANIFEST, sizeBytes: (await whole.stat()).size }, writing).finally(() =>
      whole.close(),
    );
    await write(tarEnd());
    return { ...header, ...counts };
  } finally {
    await handle.close();
    await rm(lines, { force: true });
  }
}

/** An archive that is being written. */
interface Writing {
  readonly workspace: string;
  readonly madeAtMs: number;
  readonly manifest: ManifestWriter;
  readonly write: (bytes: Uint8Array) => Promise<void>;
}

type Outcome = "sent" | "absent" | "damaged";

/** Sends a file of a plan. One of the operator's may change while the receiver takes its time, so a copy is sent. */
async function sendPlanned(file: PlannedFile & { from: string }, writing: Writing): Promise<Outcome> {
  const { from, expected } = file;
  const copy = join(writing.workspace, "own.part");
  try {
    if (expected !== undefined) return await sendFrom(from, file, writing);
    await copyNew(from, copy);
    return await sendFrom(copy, file, writing);
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return "absent";
    throw error;
  } finally {
    await rm(copy, { force: true });
  }
}

/** Sends the file at a place, which may lose its name meanwhile. @returns `damaged` where it is not what is expected */
async function sendFrom(
  from: string,
  { path, expected }: Omit<PlannedFile, "from">,
  writing: Writing,
): Promise<"sent" | "damaged"> {
  const handle = await open(from, "r");
  try {
    const found = await hashOpen(handle);
    if (expected !== undefined && found.sha256 !== expected.sha256) return "damaged";
    await sendOpen(handle, { path: `${DATA}/${path}`, sizeBytes: found.sizeBytes }, writing);
    await writing.manifest.file({ path, ...found });
    return "sent";
  } finally {
    await handle.close();
  }
}

async function sendOpen(handle: FileHandle, entry: TarEntry, { madeAtMs, write }: Writing): Promise<void> {
  await write(tarHeader(entry, madeAtMs));
  let left = entry.sizeBytes;
  for await (const piece of pieces(handle)) {
    const taken = piece.subarray(0, left);
    // The receiver may keep it, and the piece is overwritten.
    await write(taken.slice());
    left -= taken.length;
  }
  if (left > 0) throw new Error(`${entry.path} became shorter while it was backed up. Repeat the command.`);
  await write(padding(entry.sizeBytes));
}

/**
 * Writes the files of an archive into a folder, laid out as a backup is. They are not verified yet.
 *
 * @returns the number of files without the manifest
 * @throws BackupRefused for an archive that is truncated, or contains anything that no backup contains
 */
export async function extractArchive(
  source: AsyncIterable<Uint8Array>,
  to: string,
  allowed: AllowedPaths,
): Promise<number> {
  const made = new Set<string>();
  let isWhole = false;
  let files = 0;
  const refuse = (path: string, problem: string) =>
    new BackupRefused(`The archive cannot be used: ${path} ${problem}.`, [{ path, problem }]);
  try {
    await readTar(source, async ({ path }, content) => {
      const below = path.startsWith(`${DATA}/`) ? path.slice(DATA.length + 1) : undefined;
      if (path !== MANIFEST && (below === undefined || !isAllowed(below, allowed)))
        throw refuse(path, "is no file of a backup");
      if (isWhole) throw refuse(path, `comes after ${MANIFEST}, which is last`);
      isWhole = path === MANIFEST;
      if (!isWhole) files += 1;
      const place = join(to, path);
      const folder = dirname(place);
      if (!made.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
      made.add(folder);
      try {
        await writeNew(place, content);
      } catch (error) {
        if (isSystemError(error) && error.code === "EEXIST") throw refuse(path, "is there twice");
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof TarError) throw new BackupRefused(`The archive cannot be used: ${error.message}.`);
    throw error;
  }
  if (!isWhole) throw new BackupRefused(`The archive is no whole backup: it does not end with ${MANIFEST}.`);
  return files;
}
