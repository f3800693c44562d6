import type { MediaType, StoredFile } from "../domain/media/asset.ts";
import type { PutOptions } from "../domain/ports/asset-store.ts";
import { createLatest } from "../toolkit/latest.ts";

const MAX_KNOWN = 10_000;

/** Remembers the contents checked and stored lately, so that equal bytes, sent with each edit and retry, are not decoded again. */
export function createKnownContents() {
  const known = createLatest<string, { readonly file: StoredFile; readonly isClean: boolean }>(MAX_KNOWN);
  return {
    /** Whether this content was stored. */
    has: (sha256: string): boolean => known.has(sha256),
    /**
     * What the check found of this content as a file of this type: the same MP4 may be a video, or a recording of sound alone.
     *
     * @param mustBeClean only contents stored as an input, without metadata
     */
    get(sha256: string, type: MediaType, mustBeClean: boolean): StoredFile | undefined {
      const found = known.get(sha256);
      if (found?.file.type !== type) return undefined;
      return found.isClean || !mustBeClean ? found.file : undefined;
    },
    add(file: StoredFile, isClean: boolean): void {
      const before = known.get(file.sha256);
      if (before !== undefined && (before.isClean || !isClean)) return;
      known.add(file.sha256, { file, isClean });
    },
    forget: known.forget,
  };
}

/** What is known of a content, unless another file is to be made of it. */
export function knownAs(
  known: KnownContents,
  sha256: string,
  type: MediaType,
  { sanitize, storedAs }: Pick<PutOptions, "sanitize" | "storedAs">,
): StoredFile | undefined {
  const isOther = storedAs !== undefined && storedAs !== type;
  return isOther ? undefined : known.get(sha256, type, sanitize !== false);
}

export type KnownContents = ReturnType<typeof createKnownContents>;
