import type { TaskId } from "../domain/ids.ts";
import type { RetentionStore } from "../domain/ports/retention-store.ts";
import type { StoredContents } from "../domain/ports/stored-contents.ts";

/** Contents read from the store at a time. */
const PAGE = 100;

/** A file that is not as it was stored, and the tasks that have it: none where it was uploaded and no task uses it. */
export interface DamagedContent {
  readonly sha256: string;
  readonly what: "missing" | "changed";
  readonly tasks: readonly TaskId[];
}

export interface Verified {
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly DamagedContent[];
}

/**
 * Reads every file that a task has or that was uploaded, and compares it with its hash. A damaged one is noted with the tasks whose result it is, and the
 * note goes once the file is whole again.
 *
 * @param onFile called after each file, with how many there were so far
 */
export async function verifyContents(
  {
    contents,
    retention,
  }: {
    readonly contents: Pick<StoredContents, "rehash">;
    readonly retention: Pick<RetentionStore, "contentsAfter" | "markDamaged" | "neededContents">;
  },
  onFile: (files: number) => void = () => {},
): Promise<Verified> {
  const isNamed = async (sha256: string) => (await retention.neededContents([sha256])).length > 0;
  const damaged: DamagedContent[] = [];
  let [files, bytes] = [0, 0];
  for (let after = ""; ; ) {
    const page = await retention.contentsAfter(after, PAGE);
    for (const { sha256, sizeBytes } of page) {
      const hash = await contents.rehash(sha256);
      // A task may have been deleted while its file was read.
      const tasks = await retention.markDamaged(sha256, hash !== sha256);
      const isDamaged = hash !== sha256 && (tasks.length > 0 || (await isNamed(sha256)));
      if (isDamaged) damaged.push({ sha256, what: hash === undefined ? "missing" : "changed", tasks });
      files += 1;
      bytes += sizeBytes;
      onFile(files);
    }
    const last = page.at(-1);
    if (last === undefined) return { files, bytes, damaged };
    after = last.sha256;
  }
}
