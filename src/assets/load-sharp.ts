import { closeSync, openSync } from "node:fs";
import type sharp from "sharp";
import { storing } from "./storage-errors.ts";

/** More files than loading opens at once. */
const SPARE_FILES = 16;

let loaded: Promise<typeof sharp> | undefined;

/**
 * Loads libvips with the first image, so that a start without images costs nothing. A module whose loading failed fails for good,
 * so it is loaded only when there are enough files to open.
 *
 * @throws StorageError when there are not
 */
export function loadSharp(): Promise<typeof sharp> {
  return storing(() => {
    if (loaded === undefined) {
      requireFiles(SPARE_FILES);
      loaded = import("sharp").then((module) => module.default);
    }
    return loaded;
  });
}

function requireFiles(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync("/dev/null", "r"));
  } finally {
    for (const file of opened) closeSync(file);
  }
}
