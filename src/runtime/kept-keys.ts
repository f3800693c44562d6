import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LaneId } from "../domain/ids.ts";
import { isJsonObject } from "../domain/json.ts";
import type { Seal } from "../domain/ports/runtime.ts";
import { isSystemError, reasonOf } from "../toolkit/system-error.ts";
import { flushFolder, makeFolderForGood } from "./flush-folder.ts";
import { giveToFolderOwner } from "./folder-owner.ts";

/** The secrets of an account at a provider, by their names there. */
export type KeptSecrets = Readonly<Record<string, string>>;

/** Where the secrets of an account lie. */
export interface KeptKey {
  readonly path: string;
  readonly lane: LaneId;
}

/** What became of opening the secrets of an account. */
export type OpenedKey =
  | { readonly kind: "opened"; readonly secrets: KeptSecrets }
  /** `absent`: there are none · `spoilt`: the file is no kept key · `locked`: no key at hand opens them. */
  | { readonly kind: "absent" | "spoilt" | "locked" }
  | { readonly kind: "unreadable"; readonly reason: string };

/** Seals the secrets of an account into a file of their own, whole or not at all, and flushed. Replaces those before. */
export function keepKey(key: KeptKey, seal: Seal, secrets: KeptSecrets): void {
  const { path } = key;
  const sealed = Object.entries(secrets).map(([name, secret]) => [
    name,
    seal.seal(secret, boundTo(key, name)),
  ]);
  const folder = dirname(path);
  if (makeFolderForGood(folder)) giveToFolderOwner(folder);
  const partial = `${path}.${process.pid}.part`;
  rmSync(partial, { force: true });
  try {
    const file = openSync(partial, "wx", 0o600);
    try {
      giveToFolderOwner(partial);
      writeSync(file, `${JSON.stringify(Object.fromEntries(sealed), null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
    flushFolder(folder);
    removeParts(path, { isSure: false });
  } finally {
    rmSync(partial, { force: true });
  }
}

/** @returns whether there was a key */
export function forgetKey({ path }: KeptKey): boolean {
  const isKept = existsSync(path);
  rmSync(path, { force: true });
  removeParts(path, { isSure: true });
  return isKept;
}

/** A writer needs milliseconds. */
const LEFT_MS = 60_000;

/** Removes what writers of a key that were killed left; with `isSure`, also what somebody may be writing. */
function removeParts(path: string, { isSure }: { readonly isSure: boolean }): void {
  const folder = dirname(path);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, pid] = name.startsWith(`${basename(path)}.`) ? (/\.(\d+)\.part$/.exec(name) ?? []) : [];
    if (pid === undefined) continue;
    const part = join(folder, name);
    const { mtimeMs = 0 } = statSync(part, { throwIfNoEntry: false }) ?? {};
    if (isSure || !isAlive(Number(pid)) || Date.now() - mtimeMs >= LEFT_MS) rmSync(part, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Of another user's process it is said that it must not be told anything.
    return isSystemError(error) && error.code === "EPERM";
  }
}

/** Opens the secrets of an account, and seals them again if they were sealed with an earlier key, unless it may only read. */
export function openKey(key: KeptKey, seal: Seal, { isReadOnly = false } = {}): OpenedKey {
  const read = readKey(key.path);
  if (read.kind !== "read") return read;
  const { stored } = read;
  const opened: Record<string, string> = {};
  for (const [name, sealed] of Object.entries(stored)) {
    const secret = seal.open(sealed, boundTo(key, name));
    if (secret === undefined) return { kind: "locked" };
    opened[name] = secret;
  }
  const isOld = Object.values(stored).some((sealed) => seal.stateOf(sealed) !== "sealed");
  if (isOld && !isReadOnly) keepKey(key, seal, opened);
  return { kind: "opened", secrets: opened };
}

type Read = Exclude<OpenedKey, { kind: "opened" }> | { readonly kind: "read"; readonly stored: KeptSecrets };

function readKey(path: string): Read {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return { kind: "absent" };
    return { kind: "unreadable", reason: reasonOf(error) };
  }
  const stored = parsed(text);
  return isSecrets(stored) ? { kind: "read", stored } : { kind: "spoilt" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is not what was written.
    return undefined;
  }
}

function isSecrets(stored: unknown): stored is KeptSecrets {
  const sealed = isJsonObject(stored) ? Object.values(stored) : [];
  return sealed.length > 0 && sealed.every((each) => typeof each === "string");
}

/** A sealed secret opens at its own place only. */
function boundTo({ lane }: KeptKey, name: string): string {
  return `${lane} ${name}`;
}
