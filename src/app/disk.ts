import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { type DiskWatch, watchDisk } from "../runtime/disk-watch.ts";
import type { Releases } from "./lifecycle.ts";

const MB = 1_000_000;

/** Watches the disks on which a server stores. */
export function watchDiskOf(
  config: Pick<Config, "dataDir" | "assets" | "disk" | "retention">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  releases: Releases,
): DiskWatch {
  const { warnMb, refuseMb } = config.disk;
  const watch = watchDisk({
    ...{ clock, log },
    // The folder of files is made with the first one.
    folders: () => [config.dataDir, config.assets.path].filter((folder) => existsSync(folder)),
    warnBelow: warnMb && warnMb * MB,
    refuseBelow: refuseMb && refuseMb * MB,
    advice: adviceOf(config),
  });
  releases.push(watch.stop);
  return watch;
}

/** Says which setting frees what. */
function adviceOf({ retention }: Pick<Config, "retention">): string {
  const { outputsMs, inputsMs, callbacksMs, tasksMs } = retention;
  const ways = [
    ["retention.outputs_seconds", outputsMs, "files of results"],
    ["retention.inputs_seconds", inputsMs, "files of inputs"],
    ["retention.tasks_seconds", tasksMs, "whole tasks"],
    ["retention.callbacks_seconds", callbacksMs, "callbacks"],
  ] as const;
  const told = ways.map(([key, ms, what]) => {
    const now = ms === undefined ? "off" : `${ms / 1000}`;
    return `${key} (${now}) frees ${what}`;
  });
  return `${told.join(", ")}; svc assets gc what no task has`;
}
