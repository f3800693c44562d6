/*
 * Writes the executable's native libraries to disk, once, and loads them.
 *
 * A shared library cannot be loaded from inside an executable. The build (cli/build/plugins.ts) replaces sharp's loader by a call
 * of loadNativeAddon with the embedded files. This module reads the environment itself: it runs while `sharp` is being imported,
 * in the main thread and in Workers, before anybody could hand it a configuration.
 */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** One embedded file and where it belongs below the versioned folder. */
export type NativeFile = { path: string; source: string; sha256: string };

export type NativeBundle = {
  /** Name of the versioned folder; differs whenever the content of a file differs. */
  key: string;
  /** What an operator would call it, for messages: `sharp 0.35.5 (libvips 8.18.7)`. */
  title: string;
  /** `path` of the file to load. The others are found by it through relative run paths. */
  addon: string;
  files: readonly NativeFile[];
};

export type NativeEnvironment = {
  SVC_NATIVE_DIR?: string | undefined;
  XDG_CACHE_HOME?: string | undefined;
  /** The user's home folder; unset means there is none. */
  home?: string | undefined;
  temporary: string;
};

type Candidate = {
  folder: string;
  isPrivate: boolean;
  /** The operator named it: if others can swap what is in it, that is told instead of taking another. */
  isChosen: boolean;
};

/** Other users can put their own library in the place of ours. */
class UnsafeFolder extends Error {
  override readonly name = "UnsafeFolder";
}

const WAY_OUT = "Set SVC_NATIVE_DIR to a writable folder on a filesystem mounted exec.";

/**
 * Extracts a bundle into the first usable folder, verifies each file by its hash and loads the addon. Several processes and threads
 * may start at once: files appear by rename, complete or not at all.
 *
 * @returns the addon's exports
 * @throws Error naming every folder tried and why it failed
 */
export function loadNativeAddon(
  bundle: NativeBundle,
  environment: NativeEnvironment = readEnvironment(),
): unknown {
  const failures: string[] = [];
  let cause: unknown;
  for (const candidate of candidates(environment)) {
    let addon: string;
    try {
      addon = extract(bundle, candidate);
    } catch (error) {
      if (candidate.isChosen && error instanceof UnsafeFolder) throw refused(error);
      failures.push(`  ${candidate.folder}: ${reason(error)}`);
      cause = error;
      continue;
    }
    try {
      return open(addon);
    } catch (error) {
      if (!isRefusedByMount(error)) {
        throw new Error(`Cannot load ${bundle.title} from ${addon}: ${reason(error)}`, { cause: error });
      }
      failures.push(
        `  ${candidate.folder}: noexec, the filesystem does not allow loading libraries (${reason(error)})`,
      );
    }
  }
  throw new Error(
    `Cannot load ${bundle.title}: no usable folder for its native libraries.\n${failures.join("\n")}\n${WAY_OUT}`,
    { cause },
  );
}

/**
 * Refuses a folder of the operator's choice that other users can change, without waiting for the first image.
 *
 * @throws Error that says why, and what to do
 */
export function requireSafeNativeFolder(environment: NativeEnvironment = readEnvironment()): void {
  const chosen = candidates(environment).find(({ isChosen }) => isChosen);
  if (chosen === undefined) return;
  try {
    refuseForeignPath(chosen.folder);
  } catch (error) {
    if (error instanceof UnsafeFolder) throw refused(error);
    // Whatever else is wrong with it, another folder may do.
  }
}

/** The folders that libraries may be extracted to, best first, and why one cannot be used. Makes nothing. */
export function nativeFolders(environment: NativeEnvironment = readEnvironment()) {
  return candidates(environment).map(({ folder, isPrivate, isChosen }) => {
    try {
      refuseForeignPath(isPrivate ? dirname(folder) : folder);
      if (isPrivate && existsSync(folder)) refuseForeign(folder, lstatSync(folder), "private");
      accessSync(nearestExisting(folder), constants.W_OK | constants.X_OK);
      return { folder, isChosen, existing: nearestExisting(folder), fault: undefined };
    } catch (error) {
      return { folder, isChosen, existing: undefined, fault: reason(error) };
    }
  });
}

function refused(error: UnsafeFolder): Error {
  const why = "code that svc loads would be in their hands";
  return new Error(
    `SVC_NATIVE_DIR cannot be used: ${error.message}, and ${why}. Name a folder that only you can write to.`,
  );
}

/** The folders to try, best first. */
function candidates(environment: NativeEnvironment): Candidate[] {
  const { SVC_NATIVE_DIR: chosen, XDG_CACHE_HOME: xdg, home, temporary } = environment;
  const cache = xdg && isAbsolute(xdg) ? xdg : home ? join(home, ".cache") : undefined;
  return [
    ...(chosen ? [{ folder: resolve(chosen), isPrivate: false, isChosen: true }] : []),
    ...(cache ? [{ folder: join(cache, "svc", "native"), isPrivate: false, isChosen: false }] : []),
    { folder: join(temporary, `svc-native-${currentUser() ?? "user"}`), isPrivate: true, isChosen: false },
  ];
}

/** Make sure every file of the bundle lies below the folder, unharmed. Returns the path of the addon. */
function extract(bundle: NativeBundle, candidate: Candidate): string {
  const { folder, isPrivate } = candidate;
  refuseForeignPath(dirname(folder));
  if (!isDirectory(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (isPrivate) refuseForeign(folder, lstatSync(folder), "private");
  else refuseForeignPath(folder);

  const root = join(folder, bundle.key);
  for (const file of bundle.files) {
    ensureFolders(folder, join(bundle.key, dirname(file.path)));
    const target = join(root, file.path);
    if (!isIntact(target, file)) write(target, file);
  }
  return join(root, bundle.addon);
}

function ensureFolders(base: string, relative: string): void {
  let folder = base;
  for (const part of relative.split("/")) {
    folder = join(folder, part);
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!isDirectory(folder)) throw error;
    }
    refuseForeign(folder, lstatSync(folder), "inside");
  }
}

/**
 * Refuses a folder that others can change: itself, and what it lies in, by its own path and by the one that links lead to. Who can
 * write to a folder above can put another in its place. What does not exist yet is left out.
 */
function refuseForeignPath(folder: string): void {
  const existing = nearestExisting(folder);
  for (const start of new Set([existing, realpathSync(existing)])) {
    for (let path = start; ; path = dirname(path)) {
      const link = lstatSync(path);
      if (link.isSymbolicLink()) refuseOwner(path, link.uid);
      refuseForeign(path, statSync(path), "base");
      if (path === dirname(path)) break;
    }
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearestExisting(dirname(folder));
}

/**
 * Refuses a folder that others can write to: they could swap a library between the check and the load. Root is trusted, since a
 * container image may ship the folder read-only. Below a base only real folders count: a link could point anywhere. In a sticky
 * folder others can add, but not replace what is ours.
 */
function refuseForeign(folder: string, stats: Stats, role: "base" | "private" | "inside"): void {
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder`);
  const user = currentUser();
  if (user === undefined) return;
  const isSticky = (stats.mode & 0o1000) !== 0;
  if (role === "private" && stats.uid !== user) throw foreign(folder, stats.uid);
  refuseOwner(folder, stats.uid);
  if (role === "private" && (stats.mode & 0o077) !== 0)
    throw new UnsafeFolder(`${folder} is open to other users (its mode must be 0700)`);
  if ((stats.mode & 0o022) === 0 || (isSticky && role !== "inside")) return;
  throw new UnsafeFolder(`${folder} is writable by ${(stats.mode & 0o002) !== 0 ? "everyone" : "its group"}`);
}

function refuseOwner(path: string, owner: number): void {
  const user = currentUser();
  if (user !== undefined && owner !== user && owner !== 0) throw foreign(path, owner);
}

function foreign(path: string, owner: number): UnsafeFolder {
  return new UnsafeFolder(`${path} is owned by another user (uid ${owner})`);
}

function isIntact(target: string, file: NativeFile): boolean {
  try {
    const stats = lstatSync(target);
    if (!stats.isFile() || (stats.mode & 0o022) !== 0) return false;
    refuseOwner(target, stats.uid);
    return sha256(readFileSync(target)) === file.sha256;
  } catch {
    return false; // Absent or unreadable: writing it again will succeed or say why not.
  }
}

function write(target: string, file: NativeFile): void {
  const bytes = readFileSync(file.source);
  if (sha256(bytes) !== file.sha256) throw new Error(`${file.path} is damaged inside the executable`);
  const temporary = `${target}.${process.pid}-${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, bytes, { flag: "wx", mode: 0o700 });
    chmodSync(temporary, 0o700);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function open(addon: string): unknown {
  const module = { exports: {} };
  process.dlopen(module, addon);
  return module.exports;
}

/** glibc and musl each have one sentence for a file that may be read but not mapped executable. */
function isRefusedByMount(error: unknown): boolean {
  return /failed to map segment|Operation not permitted|Permission denied/i.test(reason(error));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

function currentUser(): number | undefined {
  return process.getuid?.();
}

function readEnvironment(): NativeEnvironment {
  const { SVC_NATIVE_DIR, XDG_CACHE_HOME } = process.env;
  return { SVC_NATIVE_DIR, XDG_CACHE_HOME, home: homeFolder(), temporary: tmpdir() };
}

function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined; // No HOME and no entry in the password database, as for an arbitrary container uid.
  }
}
