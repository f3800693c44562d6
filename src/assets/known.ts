import type { StoredFile } from "../domain/media/asset.ts";

const MAX_KNOWN = 10_000;

/** Remembers the contents checked and stored lately, so that equal bytes, sent with each edit and retry, are not decoded again. */
export function createKnownContents() {
  const known = new Map<string, { readonly file: StoredFile; readonly isClean: boolean }>();
  return {
    /** What the check found. @param mustBeClean only contents stored as an input, without metadata */
    get(sha256: string, mustBeClean: boolean): StoredFile | undefined {
      const found = known.get(sha256);
      return found !== undefined && (found.isClean || !mustBeClean) ? found.file : undefined;
    },
    add(file: StoredFile, isClean: boolean): void {
      const before = known.get(file.sha256);
      if (before !== undefined && (before.isClean || !isClean)) return;
      const oldest = known.size < MAX_KNOWN ? undefined : known.keys().next().value;
      if (oldest !== undefined) known.delete(oldest);
      known.set(file.sha256, { file, isClean });
    },
    forget: (sha256: string) => void known.delete(sha256),
  };
}

export type KnownContents = ReturnType<typeof createKnownContents>;
