import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder } from "../../helpers/server.ts";

/** Mounting takes Linux and root; elsewhere tests that need it are skipped, and say so by their names. */
export const canMount = process.platform === "linux" && process.getuid?.() === 0 && canMountHere();

const mounted: string[] = [];

export function mount(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
}

function canMountHere(): boolean {
  const folder = emptyFolder("mount");
  return mount("mount", "-t", "tmpfs", "-o", "size=1m", "none", folder) && mount("umount", folder);
}

/** A disk of its own, in memory. */
export function smallDisk(megabytes: number): string {
  const folder = emptyFolder("disk");
  if (!mount("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "none", folder))
    throw new Error("Could not mount.");
  mounted.push(folder);
  return folder;
}

/** Unmounts all disks. Their servers must have ended. */
export function removeDisks(): void {
  for (const folder of mounted.splice(0).reverse()) mount("umount", folder);
}

/** Takes all the room there is, and gives it back. */
export function fill(disk: string): { release(): void } {
  const path = join(disk, "filler");
  const file = openSync(path, "w");
  for (const size of [65_536, 4_096, 512]) {
    try {
      for (;;) if (writeSync(file, Buffer.alloc(size)) < size) break;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
  closeSync(file);
  return { release: () => rmSync(path) };
}
