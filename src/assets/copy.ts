import { openStoredContents } from "./contents.ts";
import { openContentFiles } from "./fs.ts";
import { inFolder, type Moved, moveEach } from "./moving.ts";

/**
 * Copies the files of one folder into another. Complete files that exist already are not written again, so it may be ended at any
 * point and run again.
 *
 * @throws StorageError
 */
export function copyFolder(options: {
  readonly from: string;
  readonly to: string;
  readonly newTemporaryName: () => string;
  readonly onFile: (files: number) => void;
}): Promise<Moved> {
  const { from, to, newTemporaryName, onFile } = options;
  const [source, target] = [openStoredContents(from), openStoredContents(to)];
  const [old, files] = [from, to].map((directory) => openContentFiles({ directory, newTemporaryName }));
  const copy = async (sha256: string, sizeBytes: number) => {
    if ((await target.rehash(sha256)) === sha256) return true;
    const path = (await old?.find(sha256))?.path;
    if (path === undefined || files === undefined) return true;
    if ((await source.rehash(sha256)) !== sha256) return false;
    // What is there has other bytes than its name says.
    if ((await target.look(sha256)) !== undefined) await files.remove(sha256);
    const draft = await files.draft();
    try {
      for await (const piece of Bun.file(path).stream()) await draft.append(piece);
      // The type plays no part in a folder.
      await files.keep(draft, { sha256, sizeBytes, type: "image/png" });
    } finally {
      await files.discard(draft);
    }
    return (await target.rehash(sha256)) === sha256;
  };
  return moveEach(inFolder(source), copy, { isTrial: false, onFile });
}
