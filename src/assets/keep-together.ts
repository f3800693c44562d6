import { closeSync, fsync, openSync, renameSync, rmSync, write, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { flushOnce, type openFolders } from "./content-folders.ts";
import { makeFolderNow } from "./make-folder.ts";
import { errorCode } from "./storage-errors.ts";

/** Longer contents are written and flushed separately, so that others need not wait for them. */
export const MOST_TOGETHER_BYTES = 1024 * 1024;
/** Longer contents are written in another thread. For shorter ones the way there and back takes longer than the write. */
const MOST_NOW_BYTES = 64 * 1024;

/** Rounds at a time: while one waits for the disk, the callers of the other compute. */
const MOST_ROUNDS = 2;

const flushFile = promisify(fsync);
const writeFile = promisify(write);

interface Content {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly settle: (failure: unknown) => void;
  /** Where it is until it has its name. */
  readonly draft: string;
  fd?: number | undefined;
  failure?: unknown;
}

/**
 * Stores contents from memory in rounds. A round contains all contents that arrived while others were under way. Each is written and
 * flushed before any gets its name, and then each folder is flushed once. All callers of a round are answered in one turn, so that
 * their next writes share a commit too.
 */
export function createKeeper(
  temporaryFolder: string,
  newTemporaryName: () => string,
  { pathOf, prepare }: Pick<ReturnType<typeof openFolders>, "pathOf" | "prepare">,
) {
  let waiting: Content[] = [];
  let running = 0;

  async function run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const round = waiting;
      waiting = [];
      await runRound(round);
      for (const content of round) content.settle(content.failure);
      // The callers that were answered run first, so that their new contents join the next round.
      await new Promise((resolve) => setImmediate(resolve));
    }
    running -= 1;
  }

  async function runRound(round: readonly Content[]): Promise<void> {
    await forEach(round, (content) => writeDraft(content, temporaryFolder));
    const [, prepared] = await Promise.allSettled([
      forEach(round, ({ fd = -1 }) => flushFile(fd)),
      prepare(round.filter(isWell).map(({ sha256 }) => sha256)),
    ]);
    await forEach(round, async ({ draft, sha256 }) => {
      if (prepared.status === "rejected") throw prepared.reason;
      await rename(draft, sha256);
    });
    const flushed = flushOnce();
    await forEach(round, ({ sha256 }) => flushed(dirname(pathOf(sha256))));
    for (const content of round) leave(content);
  }

  async function rename(draft: string, sha256: string): Promise<void> {
    const path = pathOf(sha256);
    try {
      renameSync(draft, path);
    } catch (error) {
      // Somebody removed the empty folder in the meantime.
      if (errorCode(error) !== "ENOENT") throw error;
      await prepare([sha256], "again");
      renameSync(draft, path);
    }
  }

  return (bytes: Uint8Array, sha256: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (failure: unknown) => (failure === undefined ? resolve() : reject(failure));
      waiting.push({ bytes, sha256, settle, draft: join(temporaryFolder, newTemporaryName()) });
      if (running === MOST_ROUNDS) return;
      running += 1;
      void run();
    });
}

const isWell = ({ failure }: Content): boolean => failure === undefined;

/** Does the work for each that has not failed yet. One that fails stops no other. */
async function forEach(
  round: readonly Content[],
  work: (content: Content) => Promise<void> | void,
): Promise<void> {
  await Promise.all(
    round.filter(isWell).map(async (content) => {
      try {
        await work(content);
      } catch (error) {
        content.failure = error;
      }
    }),
  );
}

async function writeDraft(content: Content, folder: string): Promise<void> {
  const fd = create(content.draft, folder);
  content.fd = fd;
  const { bytes } = content;
  // One write may take fewer bytes than given, above all on a nearly full disk.
  for (let done = 0; done < bytes.length; ) {
    const left = bytes.length - done;
    done +=
      left <= MOST_NOW_BYTES
        ? writeSync(fd, bytes, done, left, done)
        : (await writeFile(fd, bytes, done, left, done)).bytesWritten;
  }
}

function create(path: string, folder: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    makeFolderNow(folder, dirname(folder));
    return openSync(path, "wx", 0o600);
  }
}

/** Closes the file. Removes what did not get its name. A folder of another machine may tell only now what it could not store. */
function leave(content: Content): void {
  if (content.fd === undefined) return;
  try {
    closeSync(content.fd);
    if (!isWell(content)) rmSync(content.draft, { force: true });
  } catch (error) {
    content.failure ??= error;
  }
}
