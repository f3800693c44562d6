/** How the backups that a server makes by itself go. Times are epoch milliseconds. */
export interface BackupState {
  /** When the newest was begun; absent while none is known. */
  readonly lastAt?: number | undefined;
  /** Since when none could be made, and why; absent while all is well. */
  readonly failing?: { readonly since: number; readonly reason: string } | undefined;
}

/** Tells how backups go; undefined where the server makes none. */
export type ReadBackupState = () => BackupState | undefined;
