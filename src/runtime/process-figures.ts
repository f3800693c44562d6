import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { ProcessFigures } from "../domain/overview.ts";
import { descriptorLimit } from "./descriptors.ts";

const MICROSECONDS = 1_000_000;

/** Reads what the system says of this process. */
export async function readProcess(): Promise<ProcessFigures> {
  const { user, system } = process.cpuUsage();
  return {
    cpuSeconds: (user + system) / MICROSECONDS,
    openFiles: await countOpenFiles(),
    mostFiles: descriptorLimit(),
  };
}

/** The folder's size is the number of its entries since Linux 6.2 (https://lore.kernel.org/all/20221018045844.37697-1-ivan@cloudflare.com/, checked 2026-11-23). */
async function countOpenFiles(): Promise<number | undefined> {
  const folder = "/proc/self/fd";
  const { size = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  if (size > 0) return size;
  try {
    return (await readdir(folder)).length;
  } catch {
    // Only Linux has this folder.
    return undefined;
  }
}
