import { open } from "node:fs/promises";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { isSystemError } from "../toolkit/system-error.ts";
import {
  type BackupBucket,
  type BackupFile,
  type BackupHeader,
  type BackupObject,
  BackupRefused,
  type BackupSummary,
  MANIFEST,
  type MissingFile,
} from "./backup.ts";
import { pieces } from "./files.ts";

const FORMAT = "svc-backup";
/** The version of the layout. A later version is refused. */
const VERSION = 1;
/** The layout of a backup that names files in a bucket. Earlier programs would not look for these files, so they must refuse it. */
const WITH_BUCKET = 2;
const SHA256 = /^[0-9a-f]{64}$/;

/*
 * A manifest consists of lines of JSON. The first line describes the backup. One line follows for each file, for each file in the
 * service's bucket, and for each missing file. The last line has the number of files and the SHA-256 of all previous lines, and
 * reveals a truncated or changed manifest.
 */

/** Writes the lines of a manifest one after the other, without keeping them. @param write receives each line with its line break */
export function createManifest(write: (line: string) => Promise<void>) {
  const hasher = new Bun.CryptoHasher("sha256");
  const missing: MissingFile[] = [];
  let files = 0;
  let sizeBytes = 0;
  let objects = 0;

  let written = Promise.resolve();

  /** Several files are copied at a time, but their lines are written one after the other. */
  function add(line: JsonObject): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    hasher.update(text);
    written = written.then(() => write(text));
    return written;
  }

  return {
    begin({ svc, migrations, latestMigration, madeAtMs, source, leftOut, bucket }: BackupHeader) {
      const version = bucket === undefined ? VERSION : WITH_BUCKET;
      return add({
        ...{ format: FORMAT, version, svc, migrations, latest_migration: latestMigration },
        ...{ made_at: new Date(madeAtMs).toISOString(), source: source ?? null, left_out: [...leftOut] },
        ...(bucket !== undefined && { bucket: { ...bucket } }),
      });
    },
    file({ path, sizeBytes: size, sha256, isShared }: BackupFile): Promise<void> {
      files += 1;
      sizeBytes += size;
      return add({ path, size, sha256, ...(isShared === true && { shared: true }) });
    },
    object({ sha256, sizeBytes: size }: BackupObject): Promise<void> {
      objects += 1;
      return add({ object: sha256, size });
    },
    async missing({ path, reason }: MissingFile): Promise<void> {
      if (missing.some((each) => each.path === path)) return;
      missing.push({ path, reason });
      return add({ missing: path, reason });
    },
    async end() {
      await write(`${JSON.stringify({ files, sha256: hasher.digest("hex") })}\n`);
      return { files, sizeBytes, objects, missing };
    },
  };
}

export type ManifestWriter = ReturnType<typeof createManifest>;

/** Receives the entries of a manifest before it is known whether the manifest is complete. */
export interface ManifestReader {
  readonly file?: (file: BackupFile) => Promise<void> | void;
  readonly object?: (object: BackupObject) => void;
}

/**
 * Reads a manifest to its end.
 *
 * @throws BackupRefused for a manifest that is truncated, changed, from another program or of a later layout
 */
export async function readManifest(path: string, reader?: ManifestReader): Promise<BackupSummary> {
  return await readManifestOf(bytesOf(path), reader);
}

/** Reads a manifest that comes from another place. */
export async function readManifestOf(
  bytes: AsyncIterable<Uint8Array>,
  reader: ManifestReader = {},
): Promise<BackupSummary> {
  const hasher = new Bun.CryptoHasher("sha256");
  const read = createLineReader(reader);
  let last: string | undefined;
  for await (const line of linesOf(bytes)) {
    if (last !== undefined) {
      hasher.update(`${last}\n`);
      await read.line(last);
    }
    last = line;
  }
  const end = parsed(last ?? "");
  if (read.header() === undefined || end?.sha256 === undefined || end.path !== undefined)
    throw refused("is cut off: its last line is missing");
  if (end.sha256 !== hasher.digest("hex")) throw refused("is damaged: it does not have its own SHA-256");
  const summary = read.summary();
  if (end.files !== summary.files) throw refused("is damaged: it does not have as many files as it says");
  return summary;
}

/** The description of a backup, read only from the first line of its manifest. @throws BackupRefused for one of another program */
export function readHeader(path: string): Promise<BackupHeader> {
  return headerOf(bytesOf(path));
}

export async function headerOf(bytes: AsyncIterable<Uint8Array>): Promise<BackupHeader> {
  for await (const line of linesOf(bytes)) return toHeader(parsed(line));
  throw refused("is empty");
}

/** Takes lines one by one; the first must be from this program. */
function createLineReader(reader: ManifestReader) {
  const missing: MissingFile[] = [];
  let header: BackupHeader | undefined;
  let files = 0;
  let sizeBytes = 0;
  let objects = 0;
  return {
    header: () => header,
    summary(): BackupSummary {
      if (header === undefined) throw refused("is empty");
      return { ...header, files, sizeBytes, objects, missing };
    },
    async line(text: string): Promise<void> {
      const value = parsed(text);
      if (header === undefined) {
        header = toHeader(value);
        return;
      }
      const lost = toMissing(value);
      if (lost !== undefined) {
        missing.push(lost);
        return;
      }
      if (value?.object !== undefined) {
        objects += 1;
        reader.object?.(toObject(value));
        return;
      }
      const file = toFile(value);
      files += 1;
      sizeBytes += file.sizeBytes;
      await reader.file?.(file);
    },
  };
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r").catch((error: unknown) => {
    if (isSystemError(error) && error.code === "ENOENT") throw refused("is not there");
    throw error;
  });
  try {
    yield* pieces(handle);
  } finally {
    await handle.close();
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toHeader(value: JsonObject | undefined): BackupHeader {
  if (value?.format !== FORMAT)
    throw new BackupRefused(`This is no backup of svc: its ${MANIFEST} is of another program.`);
  if (value.version !== VERSION && value.version !== WITH_BUCKET)
    throw new BackupRefused(
      `This backup has layout ${JSON.stringify(value.version)}; this program knows ${WITH_BUCKET}. Use a newer version of svc.`,
    );
  const { svc, migrations, latest_migration, made_at, source, left_out } = value;
  const bucket = value.version === WITH_BUCKET ? toBucket(value) : undefined;
  const madeAtMs = typeof made_at === "string" ? Date.parse(made_at) : Number.NaN;
  const isWhole =
    typeof svc === "string" &&
    typeof latest_migration === "string" &&
    !Number.isNaN(madeAtMs) &&
    Array.isArray(left_out);
  if (!isWhole || typeof migrations !== "number") throw refused("is damaged in its first line");
  return {
    ...{ svc, migrations, latestMigration: latest_migration, madeAtMs },
    source: typeof source === "string" ? source : undefined,
    leftOut: left_out.filter((each) => typeof each === "string"),
    ...(bucket !== undefined && { bucket }),
  };
}

function toBucket(value: JsonObject): BackupBucket {
  const { endpoint, region, name, prefix } = isJsonObject(value.bucket) ? value.bucket : {};
  const isWhole = typeof endpoint === "string" && typeof region === "string";
  if (!isWhole || typeof name !== "string" || typeof prefix !== "string")
    throw refused("is damaged in its first line");
  return { endpoint, region, name, prefix };
}

function toObject({ object, size }: JsonObject): BackupObject {
  if (typeof object !== "string" || !SHA256.test(object) || !isSize(size))
    throw refused("is damaged: one of its lines is no object");
  return { sha256: object, sizeBytes: size };
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function toMissing(value: JsonObject | undefined): MissingFile | undefined {
  const { missing, reason } = value ?? {};
  if (typeof missing !== "string") return undefined;
  return { path: missing, reason: reason === "damaged" ? "damaged" : "absent" };
}

function toFile(value: JsonObject | undefined): BackupFile {
  const { path, size, sha256, shared } = value ?? {};
  if (typeof path !== "string" || typeof sha256 !== "string" || !SHA256.test(sha256))
    throw refused("is damaged: one of its lines is no file");
  if (!isSize(size)) throw refused(`is damaged: the size of ${path} is none`);
  return { path, sizeBytes: size, sha256, ...(shared === true && { isShared: true }) };
}

function refused(problem: string): BackupRefused {
  return new BackupRefused(`The backup cannot be used: its ${MANIFEST} ${problem}.`, [
    { path: MANIFEST, problem },
  ]);
}
