import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { type Build, buildOf } from "../run/build.ts";
import { runToEnd } from "../run/process.ts";

const BUILT_WITHIN_MS = 300_000;

export interface Repository {
  readonly root: string;
}

/** Where the project stands. */
export interface Standing {
  readonly commit: string;
  /** Files that git does not know in this form, ignored ones aside. */
  readonly isDirty: boolean;
}

export async function readStanding({ root }: Repository): Promise<Standing> {
  const commit = await runToEnd(["git", "rev-parse", "--verify", "HEAD"], { cwd: root });
  const changes = await runToEnd(["git", "status", "--porcelain"], { cwd: root });
  return { commit: commit.trim(), isDirty: changes.trim() !== "" };
}

/** @returns the commit that a tag, a branch or the like names; undefined when there is none */
export async function findCommit({ root }: Repository, revision: string): Promise<string | undefined> {
  // What begins with a dash would be an option.
  if (revision.startsWith("-")) return undefined;
  const command = ["git", "rev-parse", "--verify", "--quiet", `${revision}^{commit}`];
  return runToEnd(command, { cwd: root }).then(
    (commit) => commit.trim(),
    () => undefined,
  );
}

/**
 * Builds a commit in a folder of its own below .cache, by its own build script, unless an earlier run has. Neither the work tree nor
 * what git keeps of it is touched.
 *
 * @throws Error with what git, the installation or the build said
 */
export async function buildCommit({ root }: Repository, commit: string): Promise<Build> {
  const folder = join(root, ".cache/bench", commit);
  if (!existsSync(folder)) await extract(root, commit, folder);
  await provideModules(root, folder);
  const executable = join(folder, "dist/svc");
  if (!existsSync(executable))
    await runToEnd([process.execPath, "run", "build"], { cwd: folder, timeoutMs: BUILT_WITHIN_MS });
  return buildOf(folder, executable);
}

async function extract(root: string, commit: string, folder: string): Promise<void> {
  const parent = join(root, ".cache/bench");
  mkdirSync(parent, { recursive: true });
  // Moved to its place when it is whole.
  const workshop = mkdtempSync(join(parent, ".extract-"));
  try {
    const [archive, tree] = [join(workshop, "tree.tar"), join(workshop, "tree")];
    mkdirSync(tree);
    await runToEnd(["git", "archive", "--format=tar", `--output=${archive}`, commit], { cwd: root });
    await runToEnd(["tar", "-xf", archive, "-C", tree], { cwd: root });
    renameSync(tree, folder);
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

/** Links the packages of this tree where both lock files are equal; otherwise installs those of the other. */
async function provideModules(root: string, folder: string): Promise<void> {
  const [own, other] = [join(root, "node_modules"), join(folder, "node_modules")];
  const lockOf = (of: string) => readFileSync(join(of, "bun.lock"), "utf8");
  const found = lstatSync(other, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (lockOf(root) === lockOf(folder)) {
    if (found === undefined) symlinkSync(own, other, "dir");
    return;
  }
  // A link from a time when they were equal.
  if (found !== undefined) rmSync(other);
  await runToEnd([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"], {
    cwd: folder,
    timeoutMs: BUILT_WITHIN_MS,
  });
}
