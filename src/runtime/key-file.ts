import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { flushFolder } from "./flush-folder.ts";
import { giveToFolderOwner } from "./folder-owner.ts";

const KEY_BYTES = 32;
const CONTENT = /^[A-Za-z0-9+/]{43}=\n?$/;

/**
 * Reads the key of a file: 32 bytes in base64.
 *
 * @param isMade creates a missing file: flushed, completely or not at all, and only once even if several processes do so at the same
 * time
 * @throws Error when the file holds no key, or cannot be read or made
 */
export function readKeyFile(path: string, isMade: boolean): string | undefined {
  const text = read(path);
  if (text !== undefined || !isMade) return text;
  make(path);
  return read(path);
}

function read(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  if (CONTENT.test(text)) return text.trim();
  throw new Error(
    `${path} holds no key. Put the right file back, or remove it: then what it sealed is lost.`,
  );
}

const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

function make(path: string): void {
  const partial = `${path}.${randomBytes(6).toHex()}.part`;
  const file = openSync(partial, "wx", 0o600);
  try {
    giveToFolderOwner(partial);
    writeSync(file, `${randomBytes(KEY_BYTES).toBase64()}\n`);
    fsyncSync(file);
    linkSync(partial, path);
  } catch (error) {
    // Another process was first, so its key is used.
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    closeSync(file);
    rmSync(partial, { force: true });
  }
  flushFolder(dirname(path));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
