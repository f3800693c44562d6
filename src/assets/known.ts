import type { StoredFile } from "../domain/media/asset.ts";

const MAX_KNOWN = 10_000;

/** Remembers the contents checked and stored lately, so that equal bytes, sent with each edit and retry, are not decoded again. */
export interface KnownContents {
  /** What the check found. @param mustBeClean only contents stored as an input, without metadata */
  get(sha256: string, mustBeClean: boolean): StoredFile | undefined;
  add(file: StoredFile, isClean: boolean): void;
  forget(sha256: string): void;
}

export function createKnownContents(): KnownContents {
  const known = new Map<string, { readonly file: StoredFile; readonly isClean: boolean }>();
  return {
    get(sha256, mustBeClean) {
      const found = known.get(sha256);
      return found !== undefined && (found.isClean || !mustBeClean) ? found.file : undefined;
    },
    add(file, isClean) {
      const before = known.get(file.sha256);
      if (before !== undefined && (before.isClean || !isClean)) return;
      const oldest = known.size < MAX_KNOWN ? undefined : known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
      known.set(file.sha256, { file, isClean });
    },
    forget: (sha256) => void known.delete(sha256),
  };
}
