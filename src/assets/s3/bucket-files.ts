import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { FileCache } from "../cache.ts";
import { type ContentFiles, type FileName, type KeepOptions, SHA256 } from "../content-files.ts";
import { readFully } from "../file-window.ts";
import { CLAIM_EVERY_MS, type FolderFiles } from "../fs.ts";
import { Downloads } from "./downloads.ts";
import { inBucket, S3Error } from "./errors.ts";
import type { ObjectHead, Objects } from "./objects.ts";
import { createServing, type Serving } from "./serving.ts";
import { base64Of, type Source } from "./write.ts";

/** How long storing is retried if there is no other copy of the file. */
const ONLY_COPY_PATIENCE_MS = 10 * 60_000;

export interface BucketFilesOptions {
  readonly local: FolderFiles;
  readonly cache: FileCache;
  readonly objects: Objects;
  /** Where new files are stored. Those in the other place are found all the same. */
  readonly store: "folder" | "s3";
  readonly serving: Serving;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  /** How long a read is tried again. */
  readonly patienceMs?: number | undefined;
  readonly log: Pick<Log, "error" | "warn">;
}

/** Files in a bucket, with a cache of them on this machine, beside files in a folder. */
export function openBucketFiles(options: BucketFilesOptions): ContentFiles {
  const { local, cache, objects, store } = options;
  const downloads = new Downloads(options);
  const alone = createTurns();
  const pathIfThere = (file: FileName) =>
    local.pathIfThere(file) ?? cache.pathIfThere(file.sha256, file.sizeBytes);
  const findHere = async (file: FileName) => pathIfThere(file) ?? cache.find(file.sha256, file.sizeBytes);
  const inFolder = (file: FileName) => local.pathIfThere(file);

  async function find(file: FileName): Promise<ObjectHead | undefined> {
    const head = await findObject(objects, file.sha256);
    // Without a bucket, every file would seem to be gone.
    if (head === undefined && SHA256.test(file.sha256)) await inBucket(() => objects.has(file.sha256));
    return head?.sizeBytes === file.sizeBytes ? head : undefined;
  }

  return {
    ...{ draft: local.draft, discard: local.discard, removeTemporary: local.removeTemporary },
    ...(store === "s3" ? storeInBucket(options) : storeInFolder(options)),
    ...{ alone, pathIfThere },
    async use(file) {
      if (local.claim(file)) return true;
      const head = await find(file);
      if (head !== undefined && !isFresh(options, head)) await inBucket(() => objects.renew(file));
      // It may have been moved to the folder since that was looked into.
      return head !== undefined || local.claim(file);
    },
    async bring(file) {
      if (!SHA256.test(file.sha256)) return undefined;
      return (await findHere(file)) ?? (await fetchFile(downloads, file)) ?? inFolder(file);
    },
    remove: (sha256) =>
      alone(sha256, async () => {
        await local.remove(sha256);
        cache.remove(sha256);
        await inBucket(() => objects.remove(sha256));
      }),
    deliver: createServing({
      ...options,
      downloads,
      findHere,
      has: async (file) => (await find(file)) !== undefined,
    }),
  };
}

/** Whether a collector will treat an object as in use for some time yet. */
function isFresh({ objects }: Pick<BucketFilesOptions, "objects">, { storedAt }: ObjectHead): boolean {
  return objects.now() - storedAt < CLAIM_EVERY_MS;
}

type Storing = Pick<ContentFiles, "keep" | "settle" | "find" | "isElsewhere" | "claim">;

function storeInBucket(options: BucketFilesOptions): Storing {
  const { local, cache, objects, log } = options;
  async function store(source: Source, patienceMs: number | undefined): Promise<void> {
    if ((await objects.put(source, { isNew: true, patienceMs })) === "stored") return;
    const there = await objects.head(source.sha256, patienceMs);
    const isSame = there?.sizeBytes === source.sizeBytes && isRight(there, source.sha256);
    if (!isSame || !isFresh(options, there)) await objects.put(source, { isNew: false, patienceMs });
  }

  return {
    async keep(draft, file, asked) {
      const read = (at: number, length: number) => readFully(draft.handle, at, length);
      await inBucket(() => store({ ...file, read }, patienceOf(asked)));
      // Most files are fetched soon after they were made. Without the copy they are fetched from the bucket.
      await local
        .handOver(draft, (path) => cache.add(file.sha256, file.sizeBytes, path))
        .catch((error: unknown) => log.warn({ err: error as Error }, "a file could not be cached"));
    },
    async settle({ sha256 }) {
      const head = await findObject(objects, sha256);
      return head !== undefined && isFresh(options, head);
    },
    find: (sha256, asked) => findObject(objects, sha256, patienceOf(asked)),
    isElsewhere: async (sha256) => (await local.find(sha256)) !== undefined,
    claim: () => false,
  };
}

function storeInFolder({ local, objects }: BucketFilesOptions): Storing {
  const { keep, settle, find, claim } = local;
  const isElsewhere = async (sha256: string, options?: KeepOptions) =>
    (await findObject(objects, sha256, patienceOf(options))) !== undefined;
  return { keep, settle, find, claim, isElsewhere };
}

const patienceOf = (options?: KeepOptions) =>
  options?.isOnlyCopy === true ? ONLY_COPY_PATIENCE_MS : undefined;

async function findObject(
  objects: Objects,
  sha256: string,
  patienceMs?: number | undefined,
): Promise<ObjectHead | undefined> {
  if (!SHA256.test(sha256)) return undefined;
  const head = await inBucket(() => objects.head(sha256, patienceMs));
  return head !== undefined && isRight(head, sha256) ? head : undefined;
}

/** Undefined where the bucket has none, or other bytes, of which the log tells. */
function fetchFile(downloads: Downloads, file: FileName): Promise<string | undefined> {
  return inBucket(async () => {
    try {
      return await downloads.bring(file);
    } catch (error) {
      if (error instanceof S3Error && /^Wrong(?:Bytes|Size)$/.test(error.code)) return undefined;
      throw error;
    }
  });
}

/** Whether what the service knows of an object's bytes is what they should be. */
function isRight({ checksum }: ObjectHead, sha256: string): boolean {
  return checksum === undefined || checksum === base64Of(sha256);
}

/** Runs work on one file after the other work on it. */
function createTurns(): ContentFiles["alone"] {
  const last = new Map<string, Promise<unknown>>();
  return async (sha256, work) => {
    const turn = (last.get(sha256) ?? Promise.resolve()).then(work);
    const end = turn.catch(() => undefined);
    last.set(sha256, end);
    try {
      return await turn;
    } finally {
      if (last.get(sha256) === end) last.delete(sha256);
    }
  };
}
