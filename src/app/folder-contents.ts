import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PlannedFile } from "../backup/write.ts";
import { USED_FORMS } from "../providers/registry.ts";
import { KEPT_KEYS, OWN_PROVIDERS } from "./settings.ts";

/** Contains the key that seals secrets of a data folder, if no key is given. */
export const SECRET_KEY = "secret.key";
export const DATABASE = "svc.db";
export const ASSETS = "assets";
/** Contains the latest lines of the log, if the settings want it. */
export const LOGS = "logs";
/** What a backup is restored into before it is whole. */
export const RESTORING = ".restoring";

/** Says where the server that runs on a folder is reached. */
export const SERVING = "serving.json";

/** Says that the database of a folder was moved, and where to. */
export const MOVED_AWAY = "moved.json";

/**
 * What a backup contains of a data folder in addition to the database and the files that it names. It leaves out: `bootstrap.json`,
 * a key in the clear whose hash is in the database; `checked-forms.json`, which is made anew; `serving.json`, locks and logs; and the folders of
 * providers that play an upstream, because an upstream's work is no part of a backup.
 */
const FILES = ["svc.yaml", "svc.yml", SECRET_KEY];
const FOLDERS = ["models", OWN_PROVIDERS, KEPT_KEYS, USED_FORMS];

/** The first parts of the paths that a backup may contain: files, and folders with a slash. */
export const BACKED_UP: ReadonlySet<string> = new Set([
  ...[DATABASE, ...FILES],
  ...[ASSETS, ...FOLDERS].map((name) => `${name}/`),
]);

/** Deeper folders hold nothing that is read. */
const DEEPEST = 8;

/** The settings, keys, models and providers of a data folder. @param without names of files to leave out */
export function* ownFilesOf(dataDir: string, without: readonly string[]): Generator<PlannedFile> {
  for (const name of FILES) {
    const from = join(dataDir, name);
    if (!without.includes(name) && isFile(from)) yield { path: name, from };
  }
  for (const name of FOLDERS) yield* filesBelow(join(dataDir, name), name, DEEPEST);
}

function* filesBelow(folder: string, path: string, depth: number): Generator<PlannedFile> {
  if (depth === 0) return;
  for (const name of namesIn(folder)) {
    const [from, below] = [join(folder, name), `${path}/${name}`];
    // Folders may be links that an operator created; the contents of their targets become part of the backup.
    if (isFile(from)) yield { path: below, from };
    else if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory())
      yield* filesBelow(from, below, depth - 1);
  }
}

/** Files that are being written, by this program or an editor, have names that end with these. */
const UNFINISHED = /\.(?:part|swp|tmp)$|~$/;
/** A name with it would be a path on Windows, so no restore takes it: a backup that had it could not be restored anywhere. */
const OTHER_SEPARATOR = "\\";

function namesIn(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder).filter((name) => !UNFINISHED.test(name) && !name.includes(OTHER_SEPARATOR));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
