import { mkdir, open, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSystemError } from "../toolkit/system-error.ts";
import { BackupRefused, type BackupSummary, DATA, MANIFEST, PARTIAL } from "./backup.ts";
import { hashFile, pieces, writeAll, writeNew } from "./files.ts";
import { createManifest } from "./manifest.ts";
import { type AllowedPaths, isAllowed } from "./read.ts";
import { padding, readTar, TarError, tarEnd, tarHeader } from "./tar.ts";
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
    const send = (path: string, from: string, sizeBytes: number) =>
      sendFile({ path, from, sizeBytes, madeAtMs }, write);
    await manifest.begin(header);
    for (const file of [{ path: plan.database, from: copy }, ...plan.files(copy)]) {
      const { path, from } = file;
      if (sent.has(path)) continue;
      if (isObject(file)) await manifest.object(file.expected);
      if (from === undefined) continue;
      const found = await look(from, file);
      if (typeof found === "string") {
        if (file.expected === undefined) continue;
        if (found === "absent") absent.push(file);
        else await manifest.missing({ path, reason: found });
        continue;
      }
      await send(`${DATA}/${path}`, from, found.sizeBytes);
      await manifest.file({ path, ...found });
      sent.add(path);
    }
    await tellAbsent(absent, { plan, manifest, header });
    const counts = await manifest.end();
    await send(MANIFEST, lines, (await stat(lines)).size);
    await write(tarEnd());
    return { ...header, ...counts };
  } finally {
    await handle.close();
    await rm(lines, { force: true });
  }
}

async function look(from: string, { expected }: PlannedFile) {
  try {
    const found = await hashFile(from);
    return expected === undefined || found.sha256 === expected.sha256 ? found : "damaged";
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return "absent";
    throw error;
  }
}

async function sendFile(
  file: { path: string; from: string; sizeBytes: number; madeAtMs: number },
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  await write(tarHeader(file, file.madeAtMs));
  const handle = await open(file.from, "r");
  try {
    let left = file.sizeBytes;
    for await (const piece of pieces(handle)) {
      const taken = piece.subarray(0, left);
      // The receiver may keep it, and the piece is overwritten.
      await write(taken.slice());
      left -= taken.length;
    }
    if (left > 0) throw new Error(`${file.from} became shorter while it was backed up. Repeat the command.`);
    await write(padding(file.sizeBytes));
  } finally {
    await handle.close();
  }
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
