/** The state of the backups that a server makes by itself. Times are epoch milliseconds. */
export interface BackupState {
  /** When the newest backup was begun; absent if none is known. */
  readonly lastAt?: number | undefined;
  /** Since when backups fail, and why; absent if they succeed. */
  readonly failing?: { readonly since: number; readonly reason: string } | undefined;
}

/** Reads the state of the backups; undefined if the server makes none. */
export type ReadBackupState = () => BackupState | undefined;
