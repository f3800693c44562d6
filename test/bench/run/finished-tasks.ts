import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { BenchContext } from "../benches/bench.ts";
import { seedFinishedTasks } from "./seed.ts";
import { copyDataFolder, type DataFolder } from "./service.ts";

/** Identifiers that are kept of each folder: more than the service keeps finished tasks in memory. */
const SAMPLE = 50_000;

/** A copy of a data folder with as many finished tasks. The first call of a run makes it, others copy what that one made. */
export function copyFinished(
  context: Pick<BenchContext, "folder" | "template" | "shared" | "workspace">,
  of: { readonly count: number; readonly name: string },
): { readonly folder: DataFolder; readonly tasks: readonly string[] } {
  const made = join(context.shared, `${basename(context.folder.path)}-${of.count}`);
  const sampled = `${made}.json`;
  if (!existsSync(sampled)) {
    const { database } = copyDataFolder(context.folder, made);
    const { template } = context;
    const tasks = seedFinishedTasks(database, { template, count: of.count, sample: SAMPLE });
    writeFileSync(sampled, JSON.stringify(tasks));
    flush(database);
  }
  const folder = copyDataFolder({ ...context.folder, path: made }, join(context.workspace, of.name));
  flush(folder.database);
  return {
    folder,
    // Nothing else writes it.
    tasks: shuffled(JSON.parse(readFileSync(sampled, "utf8")) as string[]),
  };
}

/** Has the disk write a file now, and not half a minute later, when something is measured. */
function flush(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}

/** In another order, so that neighbours in it are none in the database. */
function shuffled(tasks: string[]): string[] {
  for (let i = tasks.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1));
    [tasks[i], tasks[other]] = [tasks[other] as string, tasks[i] as string];
  }
  return tasks;
}
