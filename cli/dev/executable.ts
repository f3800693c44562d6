import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { BINARY, buildStep, ROOT, say } from "./steps.ts";

const SOURCES = ["cli", "console", "migrations", "src", "bun.lock", "package.json"];
/** Not part of the executable. */
const ASIDE = /^dev(\/|$)/;
const BUILT_WITHIN_MS = 300_000;

/**
 * The executable to test or measure: `SVC_BIN` where it is set, otherwise dist/svc, built first when it is missing or older than
 * a source. Processes that ask at the same time build it once: the others wait.
 *
 * @throws Error when it cannot be built, or `SVC_BIN` names no file
 */
export function currentExecutable(): string {
  const chosen = process.env.SVC_BIN;
  if (chosen !== undefined && chosen !== "") {
    if (!existsSync(chosen)) throw new Error(`SVC_BIN names ${chosen}, which does not exist.`);
    return chosen;
  }
  if (!isBuildCurrent()) buildOnce();
  return BINARY;
}

/** Whether dist/svc is there and no source is newer. */
export function isBuildCurrent(): boolean {
  if (!existsSync(BINARY)) return false;
  const builtAtMs = statSync(BINARY).mtimeMs;
  return SOURCES.map((name) => join(ROOT, name)).every((path) => newestMs(path) <= builtAtMs);
}

/** A folder counts as well: it changes when a file in it goes. */
function newestMs(path: string): number {
  const ownMs = statSync(path).mtimeMs;
  if (!statSync(path).isDirectory()) return ownMs;
  const entries = readdirSync(path, { recursive: true, encoding: "utf8" }).filter(
    (name) => !ASIDE.test(name),
  );
  return Math.max(ownMs, ...entries.map((name) => statSync(join(path, name)).mtimeMs));
}

function buildOnce(): void {
  mkdirSync(dirname(BINARY), { recursive: true });
  // A lock of SQLite ends with its process, however that ends.
  using lock = new Database(join(dirname(BINARY), "build.lock"));
  lock.run(`PRAGMA busy_timeout = ${BUILT_WITHIN_MS}`);
  lock.run("BEGIN EXCLUSIVE");
  if (isBuildCurrent()) return;
  say(`Building ${BINARY}: it is missing or older than the sources.`);
  const startedAt = new Date();
  const { exitCode, stderr } = Bun.spawnSync(buildStep.command, { cwd: ROOT, stdout: "inherit" });
  if (exitCode !== 0) throw new Error(`\`bun run build\` failed:\n${stderr}`);
  // A source that changed meanwhile may not be in it.
  utimesSync(BINARY, startedAt, startedAt);
}
