import type { TaskId } from "../domain/ids.ts";
import {
  KEPT_KINDS,
  type KeptKind,
  type Removed,
  type RemovedPlace,
  type RetentionStore,
} from "../domain/ports/retention-store.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import type { UploadStore } from "../domain/ports/upload-store.ts";

const EVERY_MS = 5_000;
/** A scan of tasks takes a small part of the time, however many there are. */
const REST = 20;
/** Pause between two slices, which take about a millisecond each. */
const PAUSE_MS = 20;
/** Most tasks that a slice looks at, */
const LOOKS = 50;
/** and most tasks from which it removes something. */
const REMOVALS = 10;

export interface RetentionDeps {
  readonly retention: Pick<RetentionStore, "expired" | "filesDue" | "expire" | "removed" | "sumUp">;
  readonly uploads: Pick<UploadStore, "expire">;
  /** Removes the files that nothing needs any more. */
  readonly removeContents: (contents: readonly string[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long data of ended tasks is kept, in milliseconds; absent: for ever. Read at each look. */
  readonly keptMs: () => Readonly<Partial<Record<KeptKind, number | undefined>>>;
  /** How long the books keep each removed task's own rows, in milliseconds; absent: for ever. Read at each look. */
  readonly booksMs: () => number | undefined;
}

/**
 * Removes data of ended tasks that was kept long enough and uploaded files that have expired, a few at a time. Makes the books
 * sum up tasks that were removed long ago.
 */
export function createRetention(deps: RetentionDeps) {
  const { clock, log } = deps;
  // Each of them pauses by itself, so a backlog of one does not delay the other.
  const rests = { removing: createRest(clock), summing: createRest(clock) };
  const slices = createSlices(deps, rests.removing);

  /** Looks once at everything that may be due for removal. */
  async function remove(): Promise<void> {
    await slices.filesOfTheirOwnTime();
    await slices.uploads();
    for (const kind of KEPT_KINDS) await slices.walk(kind);
  }

  const sumUp = () => sumUpRemoved(deps, rests.summing);

  async function run(look: () => Promise<void>, rest: Rest): Promise<void> {
    while (!rest.isOver()) {
      const start = clock.elapsed();
      await look().catch((error: unknown) =>
        log.error({ err: error as Error }, "what was kept long enough could not be removed; trying again"),
      );
      await rest.wait(Math.max(EVERY_MS, REST * (clock.elapsed() - start)));
    }
  }

  return {
    start(): void {
      void run(remove, rests.removing);
      void run(sumUp, rests.summing);
    },
    async tick(): Promise<void> {
      await remove();
      await sumUp();
    },
    stop(): void {
      for (const rest of Object.values(rests)) rest.end();
    },
  };
}

type Rest = ReturnType<typeof createRest>;

/** Looks once at all removed tasks whose rows in the books may be due to be summed up. */
async function sumUpRemoved({ retention, booksMs, clock, log }: RetentionDeps, rest: Rest): Promise<void> {
  const keptMs = booksMs();
  if (keptMs === undefined) return;
  const removedBefore = clock.now() - keptMs;
  let [after, summed]: [RemovedPlace | undefined, number] = [undefined, 0];
  do {
    const found: Removed = await retention.removed({ removedBefore, after, limit: LOOKS });
    for (let from = 0; from < found.due.length && !rest.isOver(); from += REMOVALS) {
      const ids = found.due.slice(from, from + REMOVALS);
      await retention.sumUp(ids);
      summed += ids.length;
      await rest.wait(PAUSE_MS);
    }
    after = found.place;
    if (after !== undefined && found.due.length === 0) await rest.wait(PAUSE_MS);
  } while (after !== undefined && !rest.isOver());
  if (summed > 0) log.info({ tasks: summed }, "removed long enough, and in the sums of the books");
}

/** Waits that end when the service stops, and from then on end at once. */
function createRest(clock: Pick<Clock, "after">) {
  let isOver = false;
  let wake = () => {};
  return {
    isOver: () => isOver,
    async wait(ms: number): Promise<void> {
      if (isOver) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
      await promise;
    },
    end(): void {
      isOver = true;
      wake();
    },
  };
}

function createSlices(deps: RetentionDeps, { isOver, wait }: Rest) {
  const { retention, clock, log } = deps;
  /** The place up to which no data of a kind is left. A new process starts from the beginning. */
  const finished = new Map<KeptKind, number>();

  async function expire(kinds: readonly KeptKind[], due: readonly TaskId[]): Promise<void> {
    for (let from = 0; from < due.length && !isOver(); from += REMOVALS) {
      const ids = due.slice(from, from + REMOVALS);
      await deps.removeContents(await retention.expire(kinds, ids, clock.now()));
      await wait(PAUSE_MS);
    }
    if (due.length > 0) log.info({ what: kinds, tasks: due.length }, "kept long enough, and removed");
  }

  return {
    /** Files whose retention time the tasks' creators set. */
    async filesOfTheirOwnTime(): Promise<void> {
      for (let count = REMOVALS; count === REMOVALS && !isOver(); ) {
        const due = await retention.filesDue(clock.now(), REMOVALS);
        await expire(["outputs", "inputs"], due);
        count = due.length;
      }
    },
    /** Files that were uploaded before any task. */
    async uploads(): Promise<void> {
      let removed = 0;
      for (let count = REMOVALS; count === REMOVALS && !isOver(); ) {
        const expired = await deps.uploads.expire(clock.now(), REMOVALS);
        await deps.removeContents(expired.contents);
        count = expired.files;
        removed += count;
        if (count > 0) await wait(PAUSE_MS);
      }
      if (removed > 0) log.info({ files: removed }, "uploaded files have expired, and are removed");
    },
    async walk(kind: KeptKind): Promise<void> {
      const keptMs = deps.keptMs()[kind];
      const now = clock.now();
      const endedBefore = keptMs === undefined ? 0 : now - keptMs;
      let after: number | undefined = finished.get(kind) ?? 0;
      let isGapless = true;
      while (after !== undefined && !isOver()) {
        const found = await retention.expired({ kind, endedBefore, now, after, limit: LOOKS });
        if (isGapless) finished.set(kind, found.finished);
        isGapless &&= found.finished === found.place;
        await expire([kind], found.due);
        if (found.place !== undefined) await wait(PAUSE_MS);
        after = found.place;
      }
    },
  };
}
