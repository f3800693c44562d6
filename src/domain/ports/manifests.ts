/** A problem of a manifest, or something that the author may have meant otherwise. */
export interface ManifestFinding {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  /** A clause or a sentence that begins with the field at fault. */
  readonly message: string;
}

/** The result of checking the text of a manifest. */
export interface ManifestCheck {
  /** The id of its model; absent where the text cannot be used. */
  readonly id?: string | undefined;
  /** Why it cannot be used. If it can be used, what the author may have meant otherwise. In the order of the text. */
  readonly findings: readonly ManifestFinding[];
}

/** The files of an operator's own models, in the data folder. Names are without a path. */
export interface ManifestFiles {
  /** Names of all of them. */
  names(): readonly string[];
  /** @returns undefined if there is no readable file */
  read(name: string): string | undefined;
  /** Writes a file, whole or not at all, so that it survives a crash. @throws StorageError */
  write(name: string, text: string): void;
  /** @throws StorageError */
  remove(name: string): void;
}
