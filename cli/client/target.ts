import { accessSync, constants, type Stats, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import type { OutputFlags } from "../format/output.ts";

/** Where results are saved. */
export type Target =
  | { readonly kind: "stdout" }
  /** This file. Several results are numbered: `a-1.png`, `a-2.png`. */
  | { readonly kind: "file"; readonly path: string; readonly mayReplace: boolean }
  /** A folder, where files are named by the stem, or without one by their task. A taken name gets the next number. */
  | {
      readonly kind: "folder";
      readonly path: string;
      readonly stem?: string | undefined;
      readonly mayReplace: boolean;
    };

export interface TargetFlags extends OutputFlags {
  readonly output?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Reads `-o`: a folder (an existing one, or a name that ends in a slash), a file, or `-`.
 *
 * @throws Failure (exit 2) when nothing can be written there
 */
export function readTarget(
  { output = ".", force = false, json, field }: TargetFlags,
  { cwd, stdout }: Pick<Context, "cwd" | "stdout">,
  stem?: string,
): Target {
  if (output === "") throw usage("-o must be a file, a folder or -, got nothing.");
  if (output === "-") {
    if (json === true || field !== undefined)
      throw usage("-o - and --json both write to standard output; give one of them.");
    if (!stdout.isTerminal || force) return { kind: "stdout" };
    throw usage("-o - would write a file's bytes to the terminal.", "Redirect them, or give --force.");
  }
  const path = resolve(cwd, output);
  const found = look(path);
  if (found?.isDirectory() === true || /[\\/]$/.test(output)) {
    refuseUnwritable(output, path);
    return { kind: "folder", path, stem, mayReplace: force };
  }
  if (found !== undefined && !found.isFile()) throw usage(`-o ${output} is neither a file nor a folder.`);
  refuseUnwritable(output, dirname(path));
  return { kind: "file", path, mayReplace: force };
}

/** Refuses what can be told to go wrong before a task is made. @param count how many results there will be */
export function checkTarget(target: Target | undefined, count: number): void {
  if (target?.kind === "stdout" && count > 1)
    throw usage(`-o - takes one result, and there are ${count}.`, "Give a folder: -o results/");
  if (target?.kind !== "file" || target.mayReplace) return;
  for (let index = 0; index < count; index++) {
    const path = fileName(target.path, count > 1 ? index + 1 : undefined, "");
    if (look(path) !== undefined) throw taken(path);
  }
}

export function taken(path: string): Error {
  return usage(`${path} is there already.`, "Give another name with -o, or --force to replace it.");
}

export interface Named {
  readonly taskId: string;
  /** From 0. */
  readonly index: number;
  readonly count: number;
  readonly extension: string;
}

/** The paths a result may get, in the order they are tried. */
export function* pathsFor(
  target: Exclude<Target, { kind: "stdout" }>,
  { taskId, index, count, extension }: Named,
): Generator<string> {
  const number = count > 1 ? index + 1 : undefined;
  if (target.kind === "file") {
    yield fileName(target.path, number, extension);
    return;
  }
  const { stem, path, mayReplace } = target;
  const name = safeName(stem ?? taskId);
  yield join(path, `${name}${number === undefined ? "" : `-${number}`}${extension}`);
  if (mayReplace) return;
  for (let next = (number ?? 1) + 1; ; next++) yield join(path, `${name}-${next}${extension}`);
}

/** Where a file is written before it gets its name. */
export function folderOf(target: Exclude<Target, { kind: "stdout" }>): string {
  return target.kind === "folder" ? target.path : dirname(target.path);
}

/** The file's own name, numbered, with the extension of its type unless it has one. */
function fileName(path: string, number: number | undefined, extension: string): string {
  const own = extname(path);
  return join(
    dirname(path),
    `${basename(path, own)}${number === undefined ? "" : `-${number}`}${own || extension}`,
  );
}

/** A name chosen by the server never leaves the folder. */
function safeName(text: string): string {
  return text.replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, "_");
}

/** What is at a path; undefined for nothing, and where a file stands in the way of a folder. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Looks at the folder, or at the nearest one above it that is there. */
function refuseUnwritable(given: string, folder: string): void {
  let at = folder;
  for (;;) {
    const found = look(at);
    if (found?.isDirectory() === true) break;
    if (found !== undefined) throw usage(`-o ${given}: ${at} is a file and no folder.`);
    at = dirname(at);
  }
  try {
    accessSync(at, constants.W_OK);
  } catch {
    throw usage(`-o ${given}: the folder ${at} may not be written to.`);
  }
}
