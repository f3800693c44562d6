import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Secrets } from "../kit/network.ts";
import { FILES, type Stored } from "./format.ts";
import { withoutAddressKeys } from "./masking.ts";

/** Longer texts become files. */
const LONGEST_TEXT = 16 * 1024;
/** The most data that may wait for the disk. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** The longest secret that is found across two pieces of a file: a private key. */
const SECRET_BYTES = 16 * 1024;
/** How the name of a file ends that is not whole yet. After a day, nobody writes it any more. */
const PART = ".part";
const DAY_MS = 86_400_000;
const WITHHELD: Stored = { withheld: "a secret is in it" };

/** A file that is written while it arrives. */
export interface Incoming {
  add(piece: Uint8Array): void;
  /** @throws what the disk says */
  end(): Promise<Stored>;
  drop(): Promise<void>;
}

export type RecordedFiles = ReturnType<typeof createFiles>;

/** The files beside recordings. Each content is there once. */
export function createFiles(folder: string, clock: Pick<Clock, "now">) {
  const own = join(folder, FILES);
  let made: Promise<unknown> | undefined;
  let parts = 0;
  // Another process, such as the one before, has other names.
  const name = `.${clock.now()}-${process.pid}`;
  const nextPart = async () => {
    made ??= mkdir(own, { recursive: true, mode: 0o700 }).then(() => removeParts(own, clock.now()));
    await made;
    return join(own, `${name}-${parts++}${PART}`);
  };

  async function keep(part: string, sha256: string, bytes: number): Promise<Stored> {
    const path = join(own, sha256);
    const known = await stat(path).catch(() => undefined);
    if (known?.size === bytes) await rm(part);
    else await rename(part, path);
    return { file: sha256, bytes };
  }

  async function write(content: Uint8Array): Promise<Stored> {
    const part = await nextPart();
    try {
      const handle = await open(part, "wx", 0o600);
      await handle.writeFile(content).finally(() => handle.close());
      return await keep(part, sha256Of(content), content.length);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  return {
    /** @param clean what becomes of a text */
    async store(content: Uint8Array, secrets: Secrets, clean = cleanedBy(secrets)): Promise<Stored> {
      const text = textOf(content);
      if (text !== undefined) {
        const kept = clean(text);
        return kept.length <= LONGEST_TEXT ? { text: kept } : await write(Buffer.from(kept));
      }
      if (secrets.isIn(content)) return WITHHELD;
      // Bytes stay as they are: each is a character of its own. Parts of a form may hold addresses.
      return await write(Buffer.from(withoutAddressKeys(Buffer.from(content).toString("latin1")), "latin1"));
    },
    incoming: (secrets: Secrets): Incoming => createIncoming({ nextPart, keep, secrets }),
  };
}

/** Removes what earlier processes left half written. */
async function removeParts(folder: string, now: number): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => each.endsWith(PART))) {
    const path = join(folder, name);
    const { mtimeMs = now } = (await stat(path).catch(() => undefined)) ?? {};
    if (now - mtimeMs > DAY_MS) await rm(path, { force: true });
  }
}

function cleanedBy(secrets: Secrets): (text: string) => string {
  return (text) => withoutAddressKeys(secrets.mask(text));
}

interface IncomingDeps {
  readonly nextPart: () => Promise<string>;
  readonly keep: (part: string, sha256: string, bytes: number) => Promise<Stored>;
  readonly secrets: Secrets;
}

function createIncoming({ nextPart, keep, secrets }: IncomingDeps): Incoming {
  const hasher = new Bun.CryptoHasher("sha256");
  let [bytes, waiting] = [0, 0];
  let tail: Uint8Array = new Uint8Array(0);
  let isSecret = false;
  let part: string | undefined;
  let handle: FileHandle | undefined;
  let written = (async () => {
    part = await nextPart();
    handle = await open(part, "wx", 0o600);
  })();
  // Whoever ends it is told.
  written.catch(() => undefined);
  const close = async () => {
    await written.catch(() => undefined);
    await handle?.close();
  };
  return {
    add(piece) {
      // Its memory may be used again.
      const copy = new Uint8Array(piece);
      bytes += copy.length;
      waiting += copy.length;
      hasher.update(copy);
      const joined = Buffer.concat([tail, copy]);
      isSecret ||= secrets.isIn(joined);
      tail = joined.subarray(-SECRET_BYTES);
      const isTooMuch = waiting > MOST_WAITING_BYTES;
      written = written.then(async () => {
        if (isTooMuch) throw new Error("the disk is too slow");
        await handle?.writeFile(copy);
        waiting -= copy.length;
      });
      written.catch(() => undefined);
    },
    async end() {
      try {
        await written;
        await handle?.close();
        if (!isSecret && part !== undefined) return await keep(part, hasher.digest("hex"), bytes);
      } catch (error) {
        await this.drop();
        throw error;
      }
      await this.drop();
      return WITHHELD;
    },
    async drop() {
      await close().catch(() => undefined);
      if (part !== undefined) await rm(part, { force: true }).catch(() => undefined);
    },
  };
}

/** Undefined for what is no text. */
export function textOf(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

export function sha256Of(content: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}
