import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import type { LaneId } from "../domain/ids.ts";
import { isJsonObject } from "../domain/json.ts";
import type { Seal } from "../domain/ports/runtime.ts";

/** The secrets of an account at a provider, by their names there. */
export type KeptSecrets = Readonly<Record<string, string>>;

/** Where the secrets of an account lie. */
export interface KeptKey {
  readonly path: string;
  readonly lane: LaneId;
}

/** Seals the secrets of an account into a file of their own, whole or not at all. Replaces those before. */
export function keepKey(key: KeptKey, seal: Seal, secrets: KeptSecrets): void {
  const { path } = key;
  const sealed = Object.entries(secrets).map(([name, secret]) => [
    name,
    seal.seal(secret, boundTo(key, name)),
  ]);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${process.pid}.part`;
  rmSync(partial, { force: true });
  try {
    const file = openSync(partial, "wx", 0o600);
    try {
      writeSync(file, `${JSON.stringify(Object.fromEntries(sealed), null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** @returns whether there was a key */
export function forgetKey({ path }: KeptKey): boolean {
  const isKept = existsSync(path);
  rmSync(path, { force: true });
  return isKept;
}

/**
 * Opens the secrets of an account, and seals them anew where they were sealed with an earlier key.
 *
 * @returns undefined where no key at hand opens them, or there are none
 */
export function openKey(key: KeptKey, seal: Seal): KeptSecrets | undefined {
  const stored = read(key.path);
  if (stored === undefined) return undefined;
  const opened: Record<string, string> = {};
  for (const [name, sealed] of Object.entries(stored)) {
    const secret = seal.open(sealed, boundTo(key, name));
    if (secret === undefined) return undefined;
    opened[name] = secret;
  }
  if (Object.values(stored).some((sealed) => seal.stateOf(sealed) !== "sealed")) keepKey(key, seal, opened);
  return opened;
}

function read(path: string): KeptSecrets | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // Gone, or not what was written: there is nothing to open.
    return undefined;
  }
  return isSecrets(stored) ? stored : undefined;
}

function isSecrets(stored: unknown): stored is KeptSecrets {
  const sealed = isJsonObject(stored) ? Object.values(stored) : [];
  return sealed.length > 0 && sealed.every((each) => typeof each === "string");
}

/** A sealed secret opens at its own place only. */
function boundTo({ lane }: KeptKey, name: string): string {
  return `${lane} ${name}`;
}
