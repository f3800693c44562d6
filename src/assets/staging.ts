import type { StoredFile } from "../domain/media/asset.ts";
import type { StagedFile } from "../domain/ports/asset-store.ts";
import type { Draft } from "./drafts.ts";
import type { ContentFiles } from "./fs.ts";
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
}

/** Removes a content that nobody holds or needs. Begins at once: nothing can happen between the caller's check and the removal. */
export function removeContent({ files, known, recent }: Contents, sha256: string): Promise<void> {
  known.forget(sha256);
  recent.forget(sha256);
  return files.remove(sha256);
}

/** Holds a file that is stored, as a staging does. @returns undefined when it is not there */
export function holdStored(deps: Contents, file: StoredFile): StagedFile | undefined {
  const { sha256, sizeBytes } = file;
  const pin = deps.pins(sha256);
  let isReleased = false;
  const staged: StagedFile = {
    file,
    keep: async () => {},
    async release(isUsed) {
      if (isReleased) return;
      isReleased = true;
      if (pin.end(isUsed)) await removeContent(deps, sha256);
    },
  };
  if (deps.files.claim(sha256, sizeBytes)) {
    pin.found(true);
    return staged;
  }
  pin.end(false);
  return undefined;
}

/** Holds a checked file until it is kept or released. */
export function holdStaged(deps: Contents, { file, content, isClean }: CheckedFile): StagedFile {
  const { files, known, recent } = deps;
  const { sha256, sizeBytes } = file;
  const pin = deps.pins(sha256);
  let keeping: Promise<void> | undefined;
  let isKept = false;
  let isReleased = false;

  async function keep(): Promise<void> {
    if (isReleased) throw new Error("This staging has ended.");
    if (known.has(sha256) && files.claim(sha256, sizeBytes)) {
      // Known contents were flushed. The claim fails for a file that somebody removed since.
      pin.found(true);
    } else {
      await store();
    }
    known.add(file, isClean);
    if (content instanceof Uint8Array) recent.add(sha256, content, file.type);
    isKept = true;
  }

  async function store(): Promise<void> {
    const there = await storing(() => files.find(sha256));
    pin.found(there !== undefined);
    if (there?.sizeBytes === sizeBytes && files.claim(sha256, sizeBytes)) await files.settle(sha256);
    else if (content instanceof Uint8Array) await keepBytes(files, sha256, content);
    else await files.keep(content, sha256);
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
        if (pin.end(isUsed && isKept)) await removeContent(deps, sha256);
      }
    },
  };
}

async function keepBytes(files: ContentFiles, sha256: string, bytes: Uint8Array): Promise<void> {
  const draft = await files.draft();
  try {
    await draft.append(bytes);
    await files.keep(draft, sha256);
  } finally {
    await files.discard(draft);
  }
}
