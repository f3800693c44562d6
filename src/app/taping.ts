import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock, Log, TaskFeed } from "../domain/ports/runtime.ts";
import type { Context } from "../providers/recordings/context.ts";
import type { CreateDeps } from "../providers/registry.ts";
import type { Releases } from "./lifecycle.ts";

/** What stands between the service and the network while exchanges are recorded. */
export interface Taping {
  /** For the adapters of providers. */
  readonly providers: Pick<CreateDeps, "network" | "around">;
  readonly within: Context["within"];
  egress(egress: Egress): Egress;
  /** Closes a recording when its task has ended. */
  follow(feed: Pick<TaskFeed, "subscribeAll">): void;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Nothing of it is loaded unless it is asked for. */
export async function openTaping(
  { record }: Pick<Config, "record">,
  deps: Deps,
  releases: Releases,
): Promise<Taping | undefined> {
  return record === undefined ? undefined : await openRecording(resolve(record), deps, releases);
}

async function openRecording(folder: string, { clock, log }: Deps, releases: Releases): Promise<Taping> {
  const { createContext } = await import("../providers/recordings/context.ts");
  const { createRecorder } = await import("../providers/recordings/recorder.ts");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const context = createContext();
  const onTrouble = (reason: string) =>
    log.error({ folder, reason }, "recordings cannot be written; the tasks go on without them");
  const recorder = createRecorder({ ...{ folder, clock, context, onTrouble } });
  releases.push(recorder.stop);
  log.info({ folder }, "exchanges with providers are recorded; prompts and files of callers are in them");
  return {
    providers: { network: recorder.network, around: recorder.adapter },
    within: context.within,
    egress: (egress) => ({ ...egress, fetchMedia: recorder.fetchMedia(egress.fetchMedia) }),
    follow: (feed) => void feed.subscribeAll((task, isOver) => isOver && recorder.ended(task)),
  };
}
