import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { placeFigures } from "./page.ts";
import type { FiguresRecord } from "./record.ts";

const PAGE = "docs/benchmarks.md";

const fileOf = (root: string, version: string) => join(root, "docs/benchmarks", `${version}.json`);

/** Writes the record of a version, and its figures into the page about them. @returns what was written */
export function keepRecord(root: string, record: FiguresRecord): string[] {
  const [file, page] = [fileOf(root, record.version), join(root, PAGE)];
  const figures = placeFigures(readFileSync(page, "utf8"), record);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(record, undefined, 1)}\n`);
  writeFileSync(page, figures);
  return [file, page];
}

/** @returns undefined when none was kept */
export function readRecord(root: string, version: string): FiguresRecord | undefined {
  const file = fileOf(root, version);
  // Nothing but `keepRecord` writes it.
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as FiguresRecord) : undefined;
}
