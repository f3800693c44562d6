import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/problem.ts";
import { type Egress, EgressError } from "../domain/ports/egress.ts";
import type { Clock, Log, TaskFeed } from "../domain/ports/runtime.ts";
import type { Context } from "../providers/recordings/context.ts";
import type { Library } from "../providers/recordings/library.ts";
import type { CreateDeps } from "../providers/registry.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import type { Releases } from "./lifecycle.ts";

/** The layer between the service and the network while exchanges are recorded or replayed. */
export interface Taping {
  /** For the adapters of providers. */
  readonly providers: Pick<CreateDeps, "network" | "around">;
  readonly within: Context["within"];
  egress(egress: Egress): Egress;
  /** Learns which tasks have ended. */
  follow(feed: Pick<TaskFeed, "subscribeAll">): void;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined where nothing is recorded or replayed. */
export type OpenTaping = (deps: Deps, releases: Releases) => Promise<Taping | undefined>;

/**
 * What a start needs: in a replay, the recordings and the settings that switch their providers on. Nothing is loaded unless
 * recording or replay is requested.
 *
 * @throws ConfigError for unreadable recordings, and if both are requested
 */
export async function prepareTaping(
  config: Config,
): Promise<{ readonly inForce: Config; readonly openTaping: OpenTaping }> {
  const { record, replay } = config;
  if (record !== undefined && replay !== undefined)
    throw new ConfigError([
      { where: "record, replay", message: "are both set; a replay has nothing to record" },
    ]);
  if (record !== undefined) return { inForce: config, openTaping: recording(resolve(record)) };
  if (replay === undefined) return { inForce: config, openTaping: async () => undefined };
  const library = await openLibrary(resolve(replay));
  const { replayedConfig } = await import("./replayed-config.ts");
  return { inForce: replayedConfig(config, library), openTaping: replaying(library) };
}

async function openLibrary(folder: string): Promise<Library> {
  const { readLibrary } = await import("../providers/recordings/library.ts");
  try {
    return await readLibrary(folder);
  } catch (error) {
    throw new ConfigError([{ where: "replay", message: `${folder} cannot be read: ${reasonOf(error)}` }]);
  }
}

function recording(folder: string): OpenTaping {
  return async ({ clock, log }, releases) => {
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
  };
}

/** Most faults of recordings that the log names. */
const TOLD = 20;

function replaying(library: Library): OpenTaping {
  return async ({ clock, log }) => {
    const { createContext } = await import("../providers/recordings/context.ts");
    const { createPlayer } = await import("../providers/recordings/player.ts");
    const context = createContext();
    const player = createPlayer({ library, context, clock });
    const { folder, recordings, faults } = library;
    log.info(
      { folder, recordings: recordings.length },
      "answers come from recordings; nothing leaves this machine",
    );
    for (const { file, line, message } of faults.slice(0, TOLD)) log.warn({}, `${file}:${line}: ${message}`);
    if (faults.length > TOLD) log.warn({ count: faults.length - TOLD }, "more is wrong with recordings");
    return {
      providers: { network: player.network, around: player.adapter },
      within: context.within,
      egress: (egress) => ({ ...closedEgress(egress), fetchMedia: player.fetchMedia }),
      follow: (feed) => void feed.subscribeAll((task, isOver) => isOver && player.ended(task)),
    };
  };
}

/** What a replay sends: nothing. */
function closedEgress({ refusal }: Egress): Omit<Egress, "fetchMedia"> {
  const reason = "nothing is sent in a replay";
  return {
    refusal,
    deliver: async () => ({ kind: "forbidden", reason }),
    ask: () => Promise.reject(new EgressError("unreachable", reason)),
  };
}
