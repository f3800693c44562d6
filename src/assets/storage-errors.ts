import { StorageError } from "../domain/ports/task-store.ts";

const KINDS: { readonly [code: string]: StorageError["kind"] } = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  EMFILE: "busy",
  ENFILE: "busy",
  // After a failed flush the content of the disk is unknown.
  EIO: "damaged",
};

/** Runs file operations. A lack of space or rights and a damaged disk become StorageError. */
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
