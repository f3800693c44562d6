import { rmSync } from "node:fs";

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Removes a folder, or leaves it to the next run. */
export function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Something is still mounted or running in there; the next run tries again.
  }
}
