import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "./job-store.ts";
import type { RenderInput } from "./render-jobs.ts";

type Owner = Pick<Job, "id" | "spec">;

/** Outputs of no more bytes, as most pictures are, are not written at all, as long as there is room in memory. */
const SMALL_BYTES = 1024 * 1024;
const MEMORY_BYTES = 16 * 1024 * 1024;
/** A stream would take a buffer of this size for every file. */
const AT_ONCE_BYTES = 256 * 1024;

/** A data folder that was moved away must not be made anew. */
const NO_FOLDERS = { createPath: false } as const;

/**
 * Inputs and outputs of jobs, one flat folder: `<job>.in-0`, `<job>.out-0`. Small outputs are in memory alone: a process that ends loses
 * them, and the next renders them again.
 */
export interface SandboxFiles {
  writeInput(id: string, index: number, content: Blob): Promise<void>;
  /** All inputs of a job, in order. Images are given by path, so that only one at a time is in memory. @throws Error when one is missing */
  readInputs(owner: Owner): Promise<RenderInput[]>;
  /** Keeps an output. A file is written to a temporary name first, so that one with the final name is whole. */
  writeOutput(id: string, index: number, bytes: Uint8Array): Promise<void>;
  hasOutput(id: string, index: number): boolean | Promise<boolean>;
  /** An output that is in memory. Forgets it, since it can be rendered again. */
  takeSmall(id: string, index: number): Uint8Array | undefined;
  /** The bytes of an output. Removes it once all were taken, since it can be rendered again. */
  takeOutput(id: string, index: number, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  removeAll(owner: Owner): Promise<void>;
}

/** Opens the folder and removes what a crash left: half-written files, and files of jobs that `isKept` rejects. */
export function openFiles(directory: string, isKept: (id: string) => boolean): SandboxFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    const isStray = name.endsWith(".tmp") || !isKept(name.slice(0, name.indexOf(".")));
    if (isStray) rmSync(join(directory, name), { force: true });
  }
  let written = 0;
  const input = (id: string, index: number) => join(directory, `${id}.in-${index}`);
  const output = (id: string, index: number) => join(directory, `${id}.out-${index}`);
  const remove = (path: string) => rm(path, { force: true });
  const small = createSmallOutputs();
  return {
    writeInput: async (id, index, content) => void (await Bun.write(input(id, index), content, NO_FOLDERS)),
    readInputs: ({ id, spec }) =>
      Promise.all(
        spec.inputs.map(async (role, i) => {
          const path = input(id, i);
          if (role === "video" || role === "motion") return { video: await Bun.file(path).bytes() };
          if (await Bun.file(path).exists()) return { image: path };
          throw new Error(`Input ${i} of ${id} is gone.`);
        }),
      ),
    async writeOutput(id, index, bytes) {
      if (small.put(output(id, index), bytes)) return;
      // Number the names: two callers may render the same missing output at once.
      const temporary = `${output(id, index)}.${++written}.tmp`;
      try {
        await Bun.write(temporary, bytes, NO_FOLDERS);
        await rename(temporary, output(id, index));
      } catch (error) {
        await remove(temporary);
        throw error;
      }
    },
    hasOutput: (id, index) =>
      small.get(output(id, index)) !== undefined || Bun.file(output(id, index)).exists(),
    takeSmall: (id, index) => small.take(output(id, index)),
    async *takeOutput(id, index, signal) {
      const path = output(id, index);
      const known = small.get(path);
      if (known !== undefined) {
        yield known;
        return void small.take(path);
      }
      const file = Bun.file(path);
      const chunks = file.size <= AT_ONCE_BYTES ? [await file.bytes()] : file.stream();
      for await (const chunk of chunks) {
        signal.throwIfAborted();
        yield chunk;
      }
      await remove(path);
    },
    async removeAll({ id, spec }) {
      const outputs = Array.from({ length: spec.outputs }, (_, i) => output(id, i));
      for (const path of outputs) small.take(path);
      await Promise.all([...spec.inputs.map((_, i) => input(id, i)), ...outputs].map(remove));
    },
  };
}

/** Small outputs in memory, by the paths that they would have as files. */
function createSmallOutputs() {
  const outputs = new Map<string, Uint8Array>();
  let totalBytes = 0;

  function take(path: string): Uint8Array | undefined {
    const bytes = outputs.get(path);
    totalBytes -= bytes?.length ?? 0;
    outputs.delete(path);
    return bytes;
  }

  return {
    get: (path: string): Uint8Array | undefined => outputs.get(path),
    /** @returns whether there was room */
    put(path: string, bytes: Uint8Array): boolean {
      take(path);
      if (bytes.length > SMALL_BYTES || totalBytes + bytes.length > MEMORY_BYTES) return false;
      totalBytes += bytes.length;
      outputs.set(path, bytes);
      return true;
    },
    take,
  };
}
