import { getPriority, setPriority } from "node:os";

/**
 * Has this thread give way to the others of the process: `niceness` from 1 to 19, more gives way more. Applies to the thread alone,
 * and only on Linux, where threads have priorities. A thread that already has this priority or a lower one stays as it is, because
 * its starter chose that, and raising the priority needs a privilege. Never throws; a thread whose priority cannot be changed works
 * all the same.
 */
export function giveWay(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    if (getPriority(0) < niceness) setPriority(0, niceness);
  } catch {
    // A container may forbid the call.
  }
}
