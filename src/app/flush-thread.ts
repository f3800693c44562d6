import { fdatasyncSync } from "node:fs";
import { monotonicMs } from "../runtime/clock.ts";
import type { FlushThread } from "../store/sqlite/log-flush.ts";
import { workerEntry } from "./worker-entry.ts";

/** A flush that takes longer is slow. Below that the thread costs more: it has to be woken, and commits become smaller. */
const SLOW_MS = 4;
/** How many quick flushes make up for a slow one. With two of them the thread is preferred: a disk that others use is slow now and then. */
const SLOW_COUNTS = 1_000;
/** After a quick flush the event loop waits for the thread so long: busy processors would have it hear of the end turns later. */
const PATIENCE_MS = 2;

/** What this thread and the one that flushes share: numbers, since messages cost twice as much. */
export const SLOTS = {
  /** 1 once the other thread runs. */
  running: 0,
  /** How many flushes were asked for. */
  asked: 1,
  /** How many have ended. */
  ended: 2,
  /** The open file to flush. */
  file: 3,
  /** 0, or the number of the last one's error. */
  error: 4,
  /** Microseconds that the last one took. */
  micros: 5,
} as const;

/** In place of a file: the thread is to end. */
export const NO_FILE = -1;

/** Whether the disk has been slow of late. */
function createSpeed(slowMs: number) {
  let slowness = 0;
  return {
    took(ms: number): void {
      slowness = ms < slowMs ? Math.max(0, slowness - 1) : Math.min(slowness + SLOW_COUNTS, 2 * SLOW_COUNTS);
    },
    isSlow: () => slowness > SLOW_COUNTS,
  };
}

/** @param onBroken called when there is no memory or no thread for it, and when it ends */
function startWorker(slots: Int32Array, onBroken: () => void): Worker | undefined {
  try {
    const worker = new Worker(workerEntry("flush-worker.ts"), { name: "flush" });
    worker.unref();
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      onBroken();
    });
    worker.addEventListener("close", onBroken);
    worker.postMessage(slots);
    return worker;
  } catch {
    onBroken();
    return undefined;
  }
}

/**
 * Returns a thread that flushes the log of the database. It starts when it is first preferred.
 *
 * @param slowMs 0: every flush is slow
 */
export function createFlushThread(slowMs = SLOW_MS, patienceMs = PATIENCE_MS): FlushThread {
  const slots = new Int32Array(new SharedArrayBuffer(Object.keys(SLOTS).length * 4));
  let worker: Worker | undefined;
  let isBroken = false;
  const { took, isSlow } = createSpeed(slowMs);

  /** Also wakes who waits for it. */
  function onBroken(): void {
    isBroken = true;
    Atomics.store(slots, SLOTS.ended, Atomics.load(slots, SLOTS.asked));
    Atomics.notify(slots, SLOTS.ended);
  }

  function ask(file: number): void {
    Atomics.store(slots, SLOTS.file, file);
    Atomics.add(slots, SLOTS.asked, 1);
    Atomics.notify(slots, SLOTS.asked);
  }

  return {
    isPreferred() {
      if (isBroken || !isSlow()) return false;
      worker ??= startWorker(slots, onBroken);
      return Atomics.load(slots, SLOTS.running) === 1;
    },
    flushHere(file) {
      const beganAt = monotonicMs();
      fdatasyncSync(file);
      took(monotonicMs() - beganAt);
    },
    async flush(file) {
      const ended = Atomics.load(slots, SLOTS.ended);
      const wasQuick = Atomics.load(slots, SLOTS.micros) < patienceMs * 1_000;
      ask(file);
      if (wasQuick) Atomics.wait(slots, SLOTS.ended, ended, patienceMs);
      await Atomics.waitAsync(slots, SLOTS.ended, ended).value;
      if (isBroken) return fdatasyncSync(file);
      const error = Atomics.load(slots, SLOTS.error);
      if (error !== 0) throw new Error(`fdatasync failed with error ${error}.`);
      took(Atomics.load(slots, SLOTS.micros) / 1_000);
    },
    stop() {
      if (worker === undefined) return;
      ask(NO_FILE);
      worker.terminate();
    },
  };
}
