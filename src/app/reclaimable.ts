import { type Dirent, existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openStoredContents } from "../assets/contents.ts";
import type { BytesByAge } from "../domain/reclaimable.ts";
import { RECLAIM_DAYS, type Reclaimable } from "../domain/reclaimable.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { collectContents } from "../service/collect-contents.ts";
import { type KeptBytes, type KeptFile, openReclaimable } from "../store/reclaimable-reading.ts";
import { databaseOf, logsOf } from "./data-folder.ts";

const DAY_MS = 86_400_000;
/** Rows that are read at a time. */
const ROWS = 500;

export interface ReclaimOrder {
  readonly dataDir: string;
  /** Where stored files are. */
  readonly assets: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether a process may write to the database meanwhile. */
  readonly isInUse: boolean;
}

/** Lets other work run after a piece. @returns false if there is no more time */
type Pause = () => Promise<boolean>;

/**
 * Counts what each way to free space on the disk would free, in pieces. Changes nothing.
 *
 * @throws SchemaError, StorageError, or what the system says of a folder
 */
export async function countReclaimable(order: ReclaimOrder, pause: Pause): Promise<Reclaimable> {
  let isWhole = true;
  const goOn = async () => {
    isWhole &&= await pause();
    return isWhole;
  };
  const path = databaseOf(order);
  const reading = openReclaimable({ path, isInUse: order.isInUse });
  try {
    const ages = new Ages(order.now);
    const files = { output: ages.empty(), input: ages.empty() };
    await walk(reading.files, goOn, (file: KeptFile) => {
      if (file.isShared === 0) ages.add(files[file.role], file);
    });
    const callbacks = ages.empty();
    await walk(reading.callbacks, goOn, (callback) => ages.add(callbacks, callback));
    const unneeded = await collectContents(
      {
        contents: openStoredContents(order.assets),
        retention: reading,
        now: () => order.now,
        pause: goOn,
      },
      { isTrial: true },
    );
    return {
      ...{ outputs: files.output, inputs: files.input, callbacks, unneeded: unneeded.bytes },
      ...(await sizeOfOwnFiles(order, goOn)),
      wal: sizeOf(`${path}-wal`),
      ...{ freePages: reading.freePages(), isWhole },
    };
  } finally {
    reading.stop();
  }
}

/** Bytes of what a process keeps on its own disk besides the database and stored files. */
export async function sizeOfOwnFiles(
  order: Pick<ReclaimOrder, "dataDir" | "assets">,
  goOn: Pause = async () => true,
): Promise<Pick<Reclaimable, "played" | "cache" | "logs">> {
  return {
    played: await sizeOfPlayed(order, goOn),
    cache: await sizeBelow(join(order.assets, "cache"), goOn),
    logs: await sizeBelow(logsOf(order), goOn),
  };
}

/** Bytes of the folders in which providers play an upstream. */
async function sizeOfPlayed({ dataDir }: Pick<ReclaimOrder, "dataDir">, goOn: Pause): Promise<number> {
  let sum = 0;
  for (const { id } of PROVIDERS) sum += await sizeBelow(join(dataDir, id), goOn);
  return sum;
}

/** Adds up bytes by the ages of their tasks. */
class Ages {
  readonly #before: readonly number[];

  constructor(now: number) {
    this.#before = RECLAIM_DAYS.map((days) => now - days * DAY_MS);
  }

  empty(): number[] & BytesByAge {
    return this.#before.map(() => 0);
  }

  add(sums: number[], { bytes, endedAt }: KeptBytes): void {
    if (endedAt === null) return;
    for (const [i, before] of this.#before.entries()) if (endedAt < before) sums[i] = (sums[i] ?? 0) + bytes;
  }
}

async function walk<Row extends KeptBytes>(
  read: (after: number, limit: number) => readonly Row[],
  goOn: Pause,
  add: (row: Row) => void,
): Promise<void> {
  for (let after = 0; ; ) {
    const rows = read(after, ROWS);
    for (const row of rows) add(row);
    const last = rows.at(-1);
    if (!(await goOn()) || last === undefined || rows.length < ROWS) return;
    after = last.place;
  }
}

/** Bytes of the files below a folder, which may not be there. Links are not followed. */
async function sizeBelow(folder: string, goOn: Pause): Promise<number> {
  if (!existsSync(folder)) return 0;
  let sum = 0;
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  for (const entry of entries) if (entry.isFile()) sum += sizeOf(join(folder, entry.name));
  if (!(await goOn())) return sum;
  for (const entry of entries)
    if (entry.isDirectory()) sum += await sizeBelow(join(folder, entry.name), goOn);
  return sum;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
