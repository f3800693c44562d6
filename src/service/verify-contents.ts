import type { FileId, TaskId } from "../domain/ids.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";

/** Contents read from the store at a time. */
const PAGE = 100;

/** A file that differs from what was stored. */
export interface DamagedContent {
  readonly sha256: string;
  readonly what: "missing" | "changed";
  /** Those that have it. */
  readonly tasks: readonly TaskId[];
  /** The uploaded files with this content. */
  readonly uploads: readonly FileId[];
}

export interface Verified {
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly DamagedContent[];
}

/**
 * Reads every file that a task has or that was uploaded, and compares it with its hash. A damaged file is recorded with the
 * tasks whose result it is. The record is removed when the file is intact again.
 *
 * @param onFile called after each file with the number of files so far
 */
export async function verifyContents(
  {
    contents,
    retention,
    uploads,
  }: {
    readonly contents: Pick<StoredContents, "rehash">;
    readonly retention: Pick<RetentionStore, "contentsAfter" | "markDamaged">;
    readonly uploads: Pick<UploadStore, "ofContent">;
  },
  onFile: (files: number) => void = () => {},
): Promise<Verified> {
  const damaged: DamagedContent[] = [];
  let [files, bytes] = [0, 0];
  for (let after = ""; ; ) {
    const page = await retention.contentsAfter(after, PAGE);
    for (const { sha256, sizeBytes } of page) {
      const hash = await contents.rehash(sha256);
      const tasks = await retention.markDamaged(sha256, hash !== sha256);
      if (hash !== sha256) {
        const having = await uploads.ofContent(sha256);
        // A task or an uploaded file may have been deleted while its file was read.
        if (tasks.length + having.length > 0)
          damaged.push({ sha256, what: hash === undefined ? "missing" : "changed", tasks, uploads: having });
      }
      files += 1;
      bytes += sizeBytes;
      onFile(files);
    }
    const last = page.at(-1);
    if (last === undefined) return { files, bytes, damaged };
    after = last.sha256;
  }
}
