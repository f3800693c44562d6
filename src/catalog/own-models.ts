import type { Model } from "../domain/model/model.ts";
import type { OwnFile } from "../toolkit/own-files.ts";
import type { Problem } from "../toolkit/schema-problems.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import type { Manifest } from "./manifest.ts";
import { didYouMean, unless } from "./problem.ts";
import { createManifestReader, ManifestError, type ReadManifest } from "./read-manifest.ts";

/** A larger file does not describe a model, and reading it would delay requests. */
export const MAX_MANIFEST_BYTES = 128 * 1024;

/** The present models, including those of the operator's own files. */
export interface OwnModels {
  /** Built-in ones that are not replaced, and own ones. A model whose file has not changed is the same object as before. */
  readonly models: readonly Model[];
  /** Lines about files, `models/mine.yaml:3:7: …`, that cannot be used or only in part. */
  readonly problems: readonly OwnProblem[];
}

export interface OwnProblem {
  readonly line: string;
  /** The effect on the file's model: it stays as it last was, it lacks what the line names, or it is missing. */
  readonly effect: "kept" | "used" | "absent";
}

export interface OwnModelsDeps {
  readonly builtIn: readonly Model[];
  /** Ids of all providers, switched on or not. */
  readonly providers: () => readonly string[];
  /** Goes before the names of files, `models/`. */
  readonly prefix: string;
}

/**
 * Makes models of an operator's own files. If a file cannot be used, its last good version stays in force.
 *
 * @returns a function that takes all files, and must be called again whenever one has changed
 */
export function createOwnModels(deps: OwnModelsDeps): (files: readonly OwnFile[]) => OwnModels {
  const read = createFileReader(deps);
  let known = new Map<string, KnownFile>();
  return (files) => {
    known = new Map(files.map((file) => [file.name, read(file, known.get(file.name))]));
    return combine(deps, [...known.values()]);
  };
}

/** The last reading of a file, and its last good version. */
interface KnownFile {
  readonly file: OwnFile;
  readonly lines: readonly string[];
  readonly good: ReadManifest | undefined;
}

function createFileReader({ builtIn, prefix }: OwnModelsDeps) {
  const reader = createManifestReader({ maxBytes: MAX_MANIFEST_BYTES });
  const builtInIds = builtIn.map(({ id }) => String(id));
  return (file: OwnFile, before: KnownFile | undefined): KnownFile => {
    if (before !== undefined && isSame(file, before.file)) return before;
    const name = prefix + file.name;
    const broken = (lines: readonly string[]): KnownFile => ({ file, lines, good: before?.good });
    if ("problem" in file) return broken([`${name} ${file.problem}`]);
    try {
      const found = reader.read(name, file.text, (manifest) => replacementProblems(manifest, builtInIds));
      return { file, lines: [], good: { ...found, model: { ...found.model, file: name } } };
    } catch (error) {
      // A defect of ours in checking it must not end the server.
      if (!(error instanceof ManifestError)) return broken([`${name} cannot be used: ${reasonOf(error)}`]);
      return broken(error.message.split("\n"));
    }
  };
}

function isSame(one: OwnFile, other: OwnFile): boolean {
  if ("text" in one) return "text" in other && one.text === other.text;
  return "problem" in other && one.problem === other.problem;
}

/** A file replaces a built-in model only if it says so. */
function replacementProblems({ id, replaces = false }: Manifest, builtIn: readonly string[]): Problem[] {
  const problem = `is the id of a built-in model; add "replaces: true" for this one to take its place, or choose another id`;
  return unless(replaces || !builtIn.includes(id), ["id"], problem);
}

function combine(deps: OwnModelsDeps, files: readonly KnownFile[]): OwnModels {
  const problems: OwnProblem[] = [];
  const own = new Map<string, Model>();
  for (const { lines, good } of files) {
    const effect = good === undefined ? "absent" : "kept";
    problems.push(...lines.map((line) => ({ line, effect }) as const));
    if (good === undefined) continue;
    const first = own.get(good.model.id)?.file;
    if (first === undefined) own.set(good.model.id, good.model);
    const effectOf = first === undefined ? "used" : "absent";
    const found = first === undefined ? doubtsOf(deps, good.manifest) : [twice(first, good.manifest)];
    problems.push(...good.linesOf(found).map((line) => ({ line, effect: effectOf }) as const));
  }
  const models = [...deps.builtIn.filter(({ id }) => !own.has(id)), ...own.values()];
  return { models, problems };
}

function twice(first: string, { id }: Manifest): Problem {
  return { path: ["id"], problem: `is "${id}", which is the id of the model in ${first} too` };
}

/** What an operator may have meant otherwise, although it works. */
function doubtsOf({ builtIn, providers }: OwnModelsDeps, manifest: Manifest): Problem[] {
  const known = providers();
  const ids = builtIn.map(({ id }) => String(id));
  return [
    ...unless(
      manifest.replaces !== true || ids.includes(manifest.id),
      ["replaces"],
      `is true, and there is no built-in model "${manifest.id}"${didYouMean(manifest.id, ids)}`,
    ),
    ...manifest.routes.flatMap(({ provider }, i) =>
      unless(
        known.includes(provider),
        ["routes", i, "provider"],
        `is "${provider}", and there is no such provider${didYouMean(provider, known)}`,
      ),
    ),
  ];
}
