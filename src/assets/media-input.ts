import type { FileHandle } from "node:fs/promises";
import type { Input, InputFormat } from "mediabunny";
import { readFully } from "./file-window.ts";
import { storing } from "./storage-errors.ts";

type Media = typeof import("mediabunny");

/** Opens a file of sound or pictures as one of `formats`. A failure to read it is a `StorageError`. The caller disposes of the input. */
export async function openMediaInput(
  handle: FileHandle,
  sizeBytes: number,
  formats: (media: Media) => InputFormat[],
): Promise<{ media: Media; input: Input }> {
  const media = await import("mediabunny");
  media.Logging.level = media.LogLevel.Silent;
  const source = new media.CustomSource({
    getSize: () => sizeBytes,
    read: (start, end) => storing(() => readFully(handle, start, end - start)),
    maxCacheSize: 4 * 1024 * 1024,
    prefetchProfile: "fileSystem",
    // The later read of those bytes reports the same error.
    handleUnhandledError: () => undefined,
  });
  return { media, input: new media.Input({ source, formats: formats(media) }) };
}
