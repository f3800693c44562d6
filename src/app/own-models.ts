import { join } from "node:path";
import { builtInModels, type LiveCatalog } from "../catalog/catalog.ts";
import {
  createOwnModels,
  MAX_MANIFEST_BYTES,
  type OwnModels,
  type OwnProblem,
} from "../catalog/own-models.ts";
import type { ProviderId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";
import type { Clock, Log } from "../domain/ports/runtime.ts";
import { type OwnFile, readOwnFiles, watchOwnFiles } from "../toolkit/own-files.ts";
import type { Folder } from "./data-folder.ts";

/** Where an operator's own models are, in the data folder. */
export const OWN_MODELS = "models";

/** The models of a data folder, for commands that need no server. @param providers the ids of all that there are */
export function readOwnModels({ dataDir }: Folder, providers: readonly ProviderId[]): OwnModels {
  const combine = createOwnModels({
    builtIn: builtInModels(),
    providers: () => providers,
    prefix: `${OWN_MODELS}/`,
  });
  return combine(readOwnFiles(join(dataDir, OWN_MODELS), { maxBytes: MAX_MANIFEST_BYTES }));
}

interface WatchDeps {
  /** The initial contents of the catalogue. */
  readonly builtIn: readonly Model[];
  readonly catalog: LiveCatalog;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** The providers there are now. */
  readonly providers: () => readonly ProviderId[];
  /** Called after the models were replaced while the server runs. */
  readonly onReplaced: () => void;
}

/**
 * Puts the models of the data folder into the catalogue, at once and whenever their files change. Logs what changed and, once each,
 * what cannot be used.
 *
 * @returns functions that stop it, and that take the files again after the providers have changed
 */
export function followOwnModels({ dataDir }: Folder, deps: WatchDeps) {
  const { builtIn, catalog, clock, log, providers, onReplaced } = deps;
  const combine = createOwnModels({ builtIn, providers, prefix: `${OWN_MODELS}/` });
  let told = new Set<string>();
  let current = builtIn;
  let isRunning = false;
  let files: readonly OwnFile[] = [];
  const stop = watchOwnFiles(join(dataDir, OWN_MODELS), {
    clock,
    maxBytes: MAX_MANIFEST_BYTES,
    onChange(present) {
      files = present;
      take();
    },
  });
  isRunning = true;
  return {
    stop,
    /** The models are offered by other providers, which the catalogue learns by being given them again. */
    takeAgain: () => take({ isAgain: true }),
  };

  function take({ isAgain = false } = {}): void {
    const { models, problems } = combine(files);
    for (const problem of problems) if (!told.has(problem.line)) log.warn({}, problemText(problem));
    told = new Set(problems.map(({ line }) => line));
    const changes = changesOf(current, models);
    const isSame = changes.changed.length + changes.removed.length === 0;
    if (isSame && !isAgain) return;
    catalog.replace(models);
    current = models;
    if (!isSame) log.info(changes, "own models are in force");
    if (isRunning) onReplaced();
  }
}

const EFFECTS: Readonly<Record<OwnProblem["effect"], string>> = {
  kept: "the model stays as it last was",
  used: "the model is used all the same",
  absent: "the model is left out",
};

/** `models/mine.yaml:3:7: kind must be one of image, video; the model is left out`. */
export function problemText({ line, effect }: OwnProblem): string {
  return `${line}; ${EFFECTS[effect]}`;
}

/** Ids of models that are new or changed, and of those that were removed. */
function changesOf(before: readonly Model[], after: readonly Model[]) {
  const stays = new Set(before);
  const ids = new Set(after.map(({ id }) => id));
  return {
    changed: after.filter((model) => !stays.has(model)).map(({ id }) => id),
    removed: before.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
  };
}
