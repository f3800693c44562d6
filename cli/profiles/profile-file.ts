import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { userFolder } from "../user-folder.ts";
import { type Profile, parseProfiles, writtenProfiles } from "./profile.ts";

type Environment = Pick<Context, "env">;

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** What a mode gives to anybody but the owner. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/**
 * Where profiles are kept: below XDG_CONFIG_HOME, or else ~/.config.
 *
 * @throws Failure (exit 12) for a user without a home folder
 */
export function profilesPath(environment: Environment): string {
  const path = findPath(environment);
  if (path !== undefined) return path;
  throw unusable("There is no home folder to keep profiles in.", "Set HOME to the path of one.");
}

function findPath(environment: Environment): string | undefined {
  const folder = userFolder(environment, "XDG_CONFIG_HOME", ".config");
  return folder === undefined ? undefined : join(folder, "svc", "profiles.json");
}

/**
 * Reads all profiles, by their names. A file that is not there holds none; a user without a home folder has none.
 *
 * @throws Failure (exit 12) for a file that others can read or change, or that holds no profiles
 */
export function readProfiles(environment: Environment): ReadonlyMap<string, Profile> {
  const path = findPath(environment);
  if (path === undefined || !existsSync(path)) return new Map();
  refuseExposed(path);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(`${path} cannot be read: ${reasonOf(error)}`);
  }
  const parsed = parseProfiles(text);
  if (parsed.ok) return parsed.profiles;
  const { line, column } = parsed.position;
  const hint = "Mend the file, or remove it and log in again with `svc login`.";
  throw unusable(`${path}:${line}:${column}: ${parsed.problem}.`, hint);
}

/** Replaces all profiles in one step, readable by their owner only. */
export function writeProfiles(environment: Environment, profiles: ReadonlyMap<string, Profile>): string {
  const named = profilesPath(environment);
  mkdirSync(dirname(named), { recursive: true, mode: FOLDER_MODE });
  // A link stays one, wherever its owner keeps the file.
  const path = existsSync(named) ? realpathSync(named) : named;
  const partial = `${path}.${process.pid}.part`;
  rmSync(partial, { force: true });
  try {
    const file = openSync(partial, "wx", FILE_MODE);
    try {
      writeSync(file, writtenProfiles(profiles));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
  } finally {
    rmSync(partial, { force: true });
  }
  return named;
}

/** Anybody who can read the file can use its keys, and anybody who can change it can redirect them. */
function refuseExposed(named: string): void {
  // Elsewhere files have no such modes.
  if (process.platform === "win32") return;
  const path = realpathSync(named);
  const user = process.getuid?.();
  const stats = statSync(path);
  if (user !== undefined && user !== 0 && stats.uid !== user)
    throw unusable(`${named} belongs to another user, who can read its keys.`, `Remove it and log in again.`);
  if ((stats.mode & OTHERS) !== 0) {
    throw unusable(
      `${named} holds keys, and other users can use it (mode ${modeText(stats.mode)}).`,
      `Close it: chmod 600 '${named}'. Who could read it may have copied the keys; rotate them.`,
    );
  }
  const folder = dirname(path);
  const { mode } = lstatSync(folder);
  if ((mode & OTHERS_WRITE) === 0) return;
  throw unusable(
    `${folder} holds keys, and other users can replace what is in it (mode ${modeText(mode)}).`,
    `Close it: chmod 700 '${folder}'.`,
  );
}

const modeText = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

function unusable(message: string, hint?: string): Failure {
  return new Failure(EXIT.config, "profiles_unusable", message, { hint });
}
