/*
 * Prepares every test process (preload in bunfig.toml). Imports no npm package: they may not be installed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, remove } from "./leftovers.ts";

const MEMORY = "/dev/shm";
const ROOMY_BYTES = 4 * 1024 ** 3;

if (!existsSync(join(import.meta.dir, "../../node_modules"))) {
  process.stderr.write(
    "The packages are not installed: there is no node_modules. Run `bun install` first.\n",
  );
  process.exit(1);
}

process.env.TMPDIR = ownTemporaryFolder();

/**
 * A folder for the temporary files of this process. In memory where there is room: a commit waits for a disk, and
 * longest when several processes write.
 */
function ownTemporaryFolder(): string {
  const base = process.env.TMPDIR === undefined && isRoomy(MEMORY) ? MEMORY : tmpdir();
  for (const name of readdirSync(base)) {
    const [, pid] = /^svc-tests-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(base, name));
  }
  const folder = join(base, `svc-tests-${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeAtEnd(folder);
  return folder;
}

/** The test runner tells nobody of its end, so another process removes the folder: it reads until this one is gone. */
function removeAtEnd(folder: string): void {
  const command = ["sh", "-c", 'trap "" INT TERM; cat; rm -rf "$0"', folder];
  Bun.spawn(command, { stdin: "pipe", stdout: "ignore", stderr: "ignore" }).unref();
}

/** Whether a file system has room for what the tests write, and lets them run what they copy there. */
function isRoomy(folder: string): boolean {
  if (!existsSync(folder) || !existsSync("/proc/mounts")) return false;
  const { bavail, bsize } = statfsSync(folder);
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === folder);
  return bavail * bsize > ROOMY_BYTES && mount?.includes("noexec") === false;
}
