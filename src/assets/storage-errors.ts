import { StorageError } from "../domain/ports/task-store.ts";

const KINDS: { readonly [code: string]: StorageError["kind"] } = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  EMFILE: "busy",
  ENFILE: "busy",
  // After a failed flush nobody knows what is on the disk.
  EIO: "damaged",
};

/** Runs file operations; those that fail for want of space, rights or a sound disk throw StorageError. */
export async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const kind = KINDS[errorCode(error) ?? ""];
    if (kind === undefined) throw error;
    throw new StorageError(kind, `Files cannot be stored (${errorCode(error)}).`, error);
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
