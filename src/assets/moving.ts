import type { StoredContents } from "../domain/ports/stored-contents.ts";

/** Files moved at one time. */
const AT_ONCE = 4;

export interface Found {
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface Moved {
  readonly files: number;
  readonly bytes: number;
  /** Files with other bytes than their names say. They stay where they are. */
  readonly damaged: readonly string[];
}

/** Takes a file to its new place. @returns false for a damaged one */
export type Move = (sha256: string, sizeBytes: number) => Promise<boolean>;

/** Moves what is found, some at a time. @throws what the first that cannot be moved throws, after those under way */
export async function moveEach(
  all: AsyncIterable<Found>,
  move: Move,
  { isTrial, onFile }: { readonly isTrial: boolean; readonly onFile: (files: number) => void },
): Promise<Moved> {
  let [files, bytes] = [0, 0];
  const damaged: string[] = [];
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const one = async ({ sha256, sizeBytes }: Found) => {
    if (!isTrial && !(await move(sha256, sizeBytes))) return void damaged.push(sha256);
    files += 1;
    bytes += sizeBytes;
    onFile(files);
  };
  for await (const found of all) {
    const moving = one(found)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => underWay.delete(moving));
    underWay.add(moving);
    if (underWay.size >= AT_ONCE) await Promise.race(underWay);
    if (failures.length > 0) break;
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return { files, bytes, damaged };
}

/** Every file of a folder. */
export async function* inFolder(folder: StoredContents): AsyncGenerator<Found> {
  for await (const names of folder.folders())
    for (const sha256 of names) {
      const found = await folder.look(sha256);
      if (found !== undefined) yield { sha256, sizeBytes: found.sizeBytes };
    }
}
