import { createHash } from "node:crypto";
import { createReadStream, rmSync, statSync } from "node:fs";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../domain/ports/runtime.ts";
import { SHA256 } from "./content-files.ts";
import { errorCode } from "./storage-errors.ts";

/** A file that was opened so lately stays: whoever opened it may read it only now. */
const GRACE_MS = 10_000;

interface Entry {
  readonly sizeBytes: number;
  /** By `Clock.elapsed`. */
  readonly usedAtMs: number;
  /** This process has checked its bytes. A power failure may have truncated a file of an earlier process. */
  readonly isChecked: boolean;
}

export interface FileCacheOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly clock: Pick<Clock, "elapsed" | "after">;
}

/**
 * Copies of files that are stored elsewhere: `<folder>/ab/<64 hexadecimal digits>`. The least recently used are removed first.
 * Everything in it may be deleted at any time.
 */
export class FileCache {
  /** Those used latest are at the end. */
  readonly #entries = new Map<string, Entry>();
  #totalBytes = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(private readonly options: FileCacheOptions) {}

  /** A checked file of this size, whose use is noted. */
  pathIfThere(sha256: string, sizeBytes: number): string | undefined {
    const entry = this.#entries.get(sha256);
    if (entry?.isChecked !== true || entry.sizeBytes !== sizeBytes) return undefined;
    const path = this.#pathOf(sha256);
    if (statSync(path, { throwIfNoEntry: false })?.size !== sizeBytes) {
      this.#forget(sha256);
      return undefined;
    }
    this.#note(sha256, { ...entry, usedAtMs: this.options.clock.elapsed() });
    return path;
  }

  /** Like `pathIfThere`, also for a file of an earlier process, which is checked first and removed if it is damaged. */
  async find(sha256: string, sizeBytes: number): Promise<string | undefined> {
    const entry = this.#entries.get(sha256);
    if (entry !== undefined && !entry.isChecked) {
      if ((await hashOf(this.#pathOf(sha256))) !== sha256) this.remove(sha256);
      else this.#note(sha256, { ...entry, isChecked: true });
    }
    return this.pathIfThere(sha256, sizeBytes);
  }

  /** Takes over a checked file, which lies at this path of the same file system. @returns where it is now */
  async add(sha256: string, sizeBytes: number, from: string): Promise<string> {
    const path = this.#pathOf(sha256);
    await rename(from, path).catch(async (error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(from, path);
    });
    this.#note(sha256, { sizeBytes, usedAtMs: this.options.clock.elapsed(), isChecked: true });
    this.#makeRoom();
    return path;
  }

  remove(sha256: string): void {
    this.#forget(sha256);
    rmSync(this.#pathOf(sha256), { force: true });
  }

  /** Learns what an earlier process left. */
  async recall(): Promise<void> {
    const found: [string, Entry, number][] = [];
    for (const name of await readdir(this.options.folder, { recursive: true }).catch(() => [])) {
      const sha256 = name.slice(-64);
      const stats = SHA256.test(sha256) ? await stat(this.#pathOf(sha256)).catch(() => undefined) : undefined;
      if (stats?.isFile() !== true) continue;
      const entry = { sizeBytes: stats.size, usedAtMs: Number.NEGATIVE_INFINITY, isChecked: false };
      found.push([sha256, entry, Math.max(stats.atimeMs, stats.mtimeMs)]);
    }
    const usedSince = [...this.#entries];
    found.sort(([, , one], [, , other]) => one - other);
    for (const [sha256, entry] of found) if (!this.#entries.has(sha256)) this.#note(sha256, entry);
    for (const [sha256, entry] of usedSince)
      if (this.#entries.get(sha256) === entry) this.#note(sha256, entry);
    this.#makeRoom();
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  #pathOf(sha256: string): string {
    return join(this.options.folder, sha256.slice(0, 2), sha256);
  }

  #note(sha256: string, entry: Entry): void {
    this.#forget(sha256);
    this.#entries.set(sha256, entry);
    this.#totalBytes += entry.sizeBytes;
  }

  #forget(sha256: string): void {
    this.#totalBytes -= this.#entries.get(sha256)?.sizeBytes ?? 0;
    this.#entries.delete(sha256);
  }

  #makeRoom(): void {
    const { clock, maxBytes } = this.options;
    for (const [sha256, { usedAtMs }] of this.#entries) {
      if (this.#totalBytes <= maxBytes) return;
      const restMs = usedAtMs + GRACE_MS - clock.elapsed();
      if (restMs > 0) {
        this.#cancelTimer ??= clock.after(restMs, () => {
          this.#cancelTimer = undefined;
          this.#makeRoom();
        });
        return;
      }
      this.remove(sha256);
    }
  }
}

async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(piece);
    return hash.digest("hex");
  } catch {
    // It was removed meanwhile, or cannot be read: then it is fetched anew.
    return undefined;
  }
}
