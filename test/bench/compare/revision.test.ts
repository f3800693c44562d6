import { afterEach, expect, test } from "bun:test";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCommit, findCommit, readStanding } from "./revision.ts";

const DEPENDENCIES = { b: "file:./b" };
const LOCK = `{
  "lockfileVersion": 2,
  "configVersion": 1,
  "workspaces": { "": { "name": "a", "dependencies": { "b": "file:./b" } } },
  "packages": { "b": ["b@file:b", {}] },
}
`;
const BUILD = `
  import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
  mkdirSync("dist", { recursive: true });
  appendFileSync("dist/svc", readFileSync("source.txt"));`;

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

/** A project whose executable is a copy of its one source, with what it says at each commit. */
function project(...said: readonly string[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "svc-revision-")));
  folder = root;
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  mkdirSync(join(root, "node_modules"));
  write(
    "package.json",
    JSON.stringify({ name: "a", dependencies: DEPENDENCIES, scripts: { build: "bun build.js" } }),
  );
  mkdirSync(join(root, "b"));
  write("b/package.json", JSON.stringify({ name: "b", version: "1.0.0" }));
  write("bun.lock", LOCK);
  write("build.js", BUILD);
  write(".gitignore", "node_modules/\n.cache/\ndist/\n");
  git("init", "-q");
  for (const source of said) {
    write("source.txt", source);
    git("add", ".");
    git("commit", "-q", "-m", source);
  }
  return { root, write };
}

function git(...args: readonly string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...who, ...args], { cwd: folder ?? "" });
  if (exitCode !== 0) throw new Error(String(stderr));
  return String(stdout).trim();
}

test("a commit is built beside the tree, once, and the tree stays as it is", async () => {
  const { root, write } = project("first", "second");
  write("source.txt", "not committed");
  const commit = git("rev-parse", "HEAD~1");
  const { executable, instantService } = await buildCommit({ root }, commit);
  expect(readFileSync(executable, "utf8")).toBe("first");
  expect(instantService.at(-1)).toBe(join(root, ".cache/bench", commit, "test/bench/run/instant-service.ts"));
  // Building again would add to it.
  expect(await buildCommit({ root }, commit)).toEqual({ executable, instantService });
  expect(readFileSync(executable, "utf8")).toBe("first");
  expect(readFileSync(join(root, "source.txt"), "utf8")).toBe("not committed");
  expect(git("status", "--porcelain")).toBe("M source.txt");
});

test("packages are those of the tree while the lock files are equal, and installed when they are not", async () => {
  const { root } = project("first");
  const commit = git("rev-parse", "HEAD");
  await buildCommit({ root }, commit);
  const modules = join(root, ".cache/bench", commit, "node_modules");
  expect(realpathSync(modules)).toBe(join(root, "node_modules"));
  appendFileSync(join(root, "bun.lock"), "\n");
  await buildCommit({ root }, commit);
  expect(lstatSync(modules).isSymbolicLink()).toBe(false);
  expect(readdirSync(modules)).toEqual(["b"]);
  expect(readdirSync(join(root, "node_modules"))).toEqual([]);
});

test("a build that fails ends with what it said", async () => {
  const { root, write } = project();
  write("build.js", "console.error('no such compiler'); process.exit(3);");
  git("add", ".");
  git("commit", "-q", "-m", "broken");
  await expect(buildCommit({ root }, git("rev-parse", "HEAD"))).rejects.toThrow("no such compiler");
});

test("a commit is found by what git calls it, and nothing else is", async () => {
  const { root } = project("first", "second");
  git("tag", "v1", "HEAD~1");
  expect(await findCommit({ root }, "v1")).toBe(git("rev-parse", "HEAD~1"));
  expect(await findCommit({ root }, "HEAD")).toBe(git("rev-parse", "HEAD"));
  expect(await findCommit({ root }, "v2")).toBeUndefined();
  expect(await findCommit({ root }, "HEAD:source.txt")).toBeUndefined();
  expect(await findCommit({ root }, "--all")).toBeUndefined();
});

test("a tree with a change or a new file is dirty, and ignored files are none", async () => {
  const { root, write } = project("first");
  const commit = git("rev-parse", "HEAD");
  write("dist.txt", "new");
  expect(await readStanding({ root })).toEqual({ commit, isDirty: true });
  rmSync(join(root, "dist.txt"));
  mkdirSync(join(root, "dist"));
  write("dist/svc", "built");
  expect(await readStanding({ root })).toEqual({ commit, isDirty: false });
  write("source.txt", "changed");
  expect(await readStanding({ root })).toEqual({ commit, isDirty: true });
});
