import { fdatasyncSync } from "node:fs";
import { monotonicMs } from "../runtime/clock.ts";
import { NO_FILE, SLOTS } from "./flush-thread.ts";

declare const self: Worker;

/** EIO, for an error without a number. */
const UNKNOWN = 5;

// Entry point of the thread that flushes the log of the database.
self.onmessage = ({ data: slots }: MessageEvent<Int32Array>): void => {
  Atomics.store(slots, SLOTS.running, 1);
  for (let ended = 0; ; ended += 1) {
    Atomics.wait(slots, SLOTS.asked, ended);
    const file = Atomics.load(slots, SLOTS.file);
    if (file === NO_FILE) return;
    const beganAt = monotonicMs();
    Atomics.store(slots, SLOTS.error, flush(file));
    Atomics.store(slots, SLOTS.micros, (monotonicMs() - beganAt) * 1_000);
    Atomics.add(slots, SLOTS.ended, 1);
    Atomics.notify(slots, SLOTS.ended);
  }
};

/** @returns 0, or the number of the error */
function flush(file: number): number {
  try {
    fdatasyncSync(file);
    return 0;
  } catch (error) {
    return Math.abs((error as NodeJS.ErrnoException).errno ?? UNKNOWN);
  }
}
