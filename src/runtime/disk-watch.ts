import { statfsSync } from "node:fs";
import { type DiskMarks, markBytes } from "../domain/disk-marks.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";

const EVERY_MS = 2_000;
/**
 * Space that was too little must grow by this much to be enough again; otherwise a disk at the mark would be reported at each check.
 */
const ENOUGH = 1.05;

export type DiskState = "enough" | "low" | "refusing";

/** A disk, in bytes. */
export interface Space {
  /** What is left for this user. */
  readonly free: number;
  readonly total: number;
}

/** The last reading of the disk that is nearest to its marks. */
export interface DiskReading extends Space {
  /** Bytes; 0 for never. */
  readonly warnBelow: number;
  readonly refuseBelow: number;
}

export interface DiskWatchOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** What is stored lies in these. */
  readonly folders: () => readonly string[];
  /** Asked at each look. */
  readonly marks: () => DiskMarks;
  /** Called at each look while the state is not `enough`. @param isChange whether it is another one than before */
  readonly onTrouble?: (isChange: boolean) => void;
  /** Reads a folder's disk. */
  readonly spaceOf?: (folder: string) => Space;
}

/** Watches how much space is free for what is stored, and tells the log when that changes what is done. */
export function watchDisk(options: DiskWatchOptions) {
  const { clock, log, folders, marks, onTrouble = () => {}, spaceOf = readSpace } = options;
  let state: DiskState = "enough";
  let reading: DiskReading | undefined;
  let cancel = () => {};

  function stateAt({ free, warnBelow, refuseBelow }: DiskReading): DiskState {
    if (free < refuseBelow * (state === "refusing" ? ENOUGH : 1)) return "refusing";
    return free < warnBelow * (state === "enough" ? 1 : ENOUGH) ? "low" : "enough";
  }

  function look(): void {
    const wanted = marks();
    // Nothing is read where nothing is asked for.
    const isWanted = wanted.warn !== undefined || wanted.refuse !== undefined;
    try {
      if (isWanted || state !== "enough") take(folders().map((folder) => readingOf(spaceOf(folder), wanted)));
    } catch (error) {
      log.warn({ err: error as Error }, "how much space is free on the disk cannot be read");
    }
    cancel = clock.after(EVERY_MS, look);
  }

  function take(disks: readonly DiskReading[]): void {
    const before = state;
    const states = disks.map(stateAt);
    state = WORST_FIRST.find((each) => states.includes(each)) ?? "enough";
    reading = disks.filter((_, i) => states[i] === state).sort((one, other) => one.free - other.free)[0];
    if (state !== before && reading !== undefined) tell(reading);
    if (state !== "enough") onTrouble(state !== before);
  }

  function tell({ free, warnBelow, refuseBelow }: DiskReading): void {
    const fields = { free_mb: mb(free), warn_mb: mb(warnBelow), refuse_mb: mb(refuseBelow) };
    if (state === "refusing") log.error(fields, "the disk is nearly full, and new tasks are refused");
    else if (state === "low") log.warn(fields, "little space is free on the disk");
    else log.info(fields, "there is enough space on the disk again");
  }

  look();
  return {
    state: (): DiskState => state,
    /** Undefined where nothing was asked for. */
    reading: () => reading,
    stop: () => cancel(),
  };
}

export type DiskWatch = ReturnType<typeof watchDisk>;

const WORST_FIRST = ["refusing", "low", "enough"] as const satisfies readonly DiskState[];

const mb = (bytes: number) => Math.floor(bytes / 1e6);

function readingOf(space: Space, { warn, refuse }: DiskMarks): DiskReading {
  return {
    ...space,
    warnBelow: markBytes(warn, "warn", space.total),
    refuseBelow: markBytes(refuse, "refuse", space.total),
  };
}

function readSpace(folder: string): Space {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}
