export interface DatabaseFault {
  /**
   * `unreadable` SQLite cannot read it · `integrity` its pages or indexes are damaged · `reference` a row refers to a row that
   * does not exist · `schema` it is newer than this program, or was migrated by an edited migration.
   */
  readonly kind: "unreadable" | "integrity" | "reference" | "schema";
  readonly message: string;
}

/** What a check of a database file found. Sizes are in bytes; the sizes of its pages are absent if it cannot be read. */
export interface DatabaseCheck {
  readonly faults: readonly DatabaseFault[];
  /** The number of the latest migration that this program knows, and those applied and pending, where they can be read. */
  readonly schema: {
    readonly latest: number;
    readonly current?: number | undefined;
    readonly pending: readonly string[];
  };
  readonly fileBytes: number;
  /** Size of the write-ahead log, which holds what is not yet in the file. */
  readonly walBytes: number;
  readonly pages?: { readonly sizeBytes: number; readonly count: number; readonly free: number } | undefined;
}
