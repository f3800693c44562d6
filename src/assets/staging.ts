import type { StoredFile } from "../domain/media/asset.ts";
import type { StagedFile } from "../domain/ports/asset-store.ts";
import type { ContentFiles, KeepOptions } from "./content-files.ts";
import type { Draft } from "./drafts.ts";
import { MOST_TOGETHER_BYTES } from "./keep-together.ts";
import type { KnownContents } from "./known.ts";
import type { Pins } from "./pins.ts";
import type { RecentFiles } from "./recent.ts";
import { storing } from "./storage-errors.ts";

/** A file that passed every check, and where its bytes are. */
export interface CheckedFile {
  readonly file: StoredFile;
  readonly content: Uint8Array | Draft;
  /** Its metadata was removed. */
  readonly isClean: boolean;
}

/** Where contents are, and what is known of them in memory. */
export interface Contents {
  readonly files: ContentFiles;
  readonly pins: Pins;
  readonly known: KnownContents;
  readonly recent: RecentFiles;
  /** Told of a content that nobody needs and that was not removed. */
  readonly onLeft?: ((sha256: string) => void) | undefined;
  /** Other processes store here, and what they hold is not known. */
  readonly isShared?: boolean | undefined;
}

/** Removes a content that nobody holds or needs. Begins at once: nothing can happen between the caller's check and the removal. */
export function removeContent({ files, known, recent, onLeft }: Contents, sha256: string): Promise<void> {
  known.forget(sha256);
  recent.forget(sha256);
  return files.remove(sha256).catch((error: unknown) => {
    onLeft?.(sha256);
    throw error;
  });
}

/** Removes a content that its holders did not use. Where another process may hold it, it is left until none can. */
async function removeUnused(deps: Contents, sha256: string): Promise<void> {
  if (deps.isShared === true) deps.onLeft?.(sha256);
  else await removeContent(deps, sha256);
}

/** Holds a file that is stored, as a staging does. @returns undefined when it is not there */
export async function holdStored(deps: Contents, file: StoredFile): Promise<StagedFile | undefined> {
  const { sha256 } = file;
  const pin = deps.pins(sha256);
  // A removal that has begun ends first; none begins from here on.
  const isThere = await deps.files
    .alone(sha256, () => deps.files.use(file))
    .catch((error: unknown) => {
      pin.end(false);
      throw error;
    });
  if (!isThere) {
    pin.end(false);
    return undefined;
  }
  pin.found(true);
  pin.stored(file);
  let isReleased = false;
  return {
    file,
    keep: async () => {},
    async release(isUsed) {
      if (isReleased) return;
      isReleased = true;
      if (pin.end(isUsed)) await removeUnused(deps, sha256);
    },
  };
}

/** Holds a checked file until it is kept or released. */
export function holdStaged(
  deps: Contents,
  { file, content, isClean }: CheckedFile,
  options?: KeepOptions,
): StagedFile {
  const { files, known, recent } = deps;
  const { sha256 } = file;
  const pin = deps.pins(sha256);
  let keeping: Promise<void> | undefined;
  let isKept = false;
  let isReleased = false;

  async function keep(): Promise<void> {
    if (isReleased) throw new Error("This staging has ended.");
    if (known.has(sha256) && files.claim(file)) {
      // Known contents were flushed. The claim fails for a file that somebody removed since.
      pin.found(true);
    } else {
      await files.alone(sha256, store);
    }
    pin.stored(file);
    known.add(file, isClean);
    if (content instanceof Uint8Array) recent.add(sha256, content, file.type);
    isKept = true;
  }

  async function store(): Promise<void> {
    // The order matters: a file that is being moved is in the new place before it leaves the old one.
    const isElsewhere = await files.isElsewhere(sha256, options);
    const there = await storing(() => files.find(sha256, options));
    pin.found(there !== undefined || isElsewhere);
    if (there?.sizeBytes === file.sizeBytes && (await files.settle(file))) return;
    await keepContent(files, { file, content }, options);
  }

  return {
    file,
    keep: () => (keeping ??= keep()),
    async release(isUsed) {
      if (isReleased) return;
      isReleased = true;
      // The caller of `keep` gets its failure.
      await keeping?.catch(() => undefined);
      try {
        if (!(content instanceof Uint8Array)) await files.discard(content);
      } finally {
        if (pin.end(isUsed && isKept)) await removeUnused(deps, sha256);
      }
    },
  };
}

async function keepContent(
  files: ContentFiles,
  { file, content }: Pick<CheckedFile, "file" | "content">,
  options?: KeepOptions,
): Promise<void> {
  if (!(content instanceof Uint8Array)) return files.keep(content, file, options);
  if (files.keepBytes !== undefined && content.length <= MOST_TOGETHER_BYTES)
    return files.keepBytes(content, file);
  const draft = await files.draft();
  try {
    await draft.append(content);
    await files.keep(draft, file, options);
  } finally {
    await files.discard(draft);
  }
}
