import { StorageError } from "../domain/ports/task-store.ts";
import { isShortage } from "../toolkit/shortage.ts";

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

/** Runs file operations. A lack of space, rights, files or memory and a damaged disk become StorageError. */
export async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const kind = KINDS[errorCode(error) ?? ""] ?? (isShortage(error) ? "busy" : undefined);
    if (kind === undefined) throw error;
    throw new StorageError(kind, `Files cannot be stored (${errorCode(error) ?? "shortage"}).`, error);
  }
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
