import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockDirectory } from "../../src/runtime/directory-lock.ts";
import { emptyFolder, svc } from "./support.ts";

/** The name of a file that is not whole. */
const DRAFT = `asset_${"1".repeat(26)}`;
setDefaultTimeout(60_000);

const OFF = ["--port", "0", "--config", "/dev/null"];

/** A data folder with everything that --fix puts right, as a server leaves it that was killed. */
async function neglected() {
  const cwd = emptyFolder();
  const dataDir = join(cwd, "data");
  const made = await svc(["migrate", "up", "--config", "/dev/null", "--data-dir", dataDir], { cwd });
  expect(made.exitCode).toBe(0);
  leaveLog(cwd, dataDir);
  for (const folder of ["assets/tmp", "backup.part/copy", "provider-keys", "models"])
    mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
  const files = [
    `assets/tmp/${DRAFT}`,
    "backup.part/copy/svc.db",
    "provider-keys/bfl.json",
    "models/own.txt",
  ];
  for (const name of [...files, "notes.txt"]) {
    writeFileSync(join(dataDir, name), "12345");
    chmodSync(join(dataDir, name), 0o644);
  }
  chmodSync(dataDir, 0o755);
  return { cwd, dataDir, at: ["--data-dir", dataDir, ...OFF] };
}

/** Leaves a write-ahead log with a commit, as a process that was killed does. */
function leaveLog(cwd: string, dataDir: string): void {
  const path = join(dataDir, "svc.db");
  const aside = join(cwd, "aside");
  const db = new Database(path);
  db.run("pragma wal_autocheckpoint = 0");
  db.run("update schema_migration set number = number where number = 1");
  mkdirSync(aside);
  for (const end of ["", "-wal"]) cpSync(`${path}${end}`, join(aside, `svc.db${end}`));
  db.close();
  for (const end of ["", "-wal"]) cpSync(join(aside, `svc.db${end}`), `${path}${end}`);
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);

test("what is safe is told, asked for and put right, and nothing else is touched", async () => {
  const { cwd, dataDir, at } = await neglected();
  const asked = await svc(["doctor", "--fix", ...at], { cwd });
  expect([asked.exitCode, modeOf(dataDir)]).toEqual([2, 0o755]);
  const told = asked.stderr.split("\n").filter((line) => line.includes("To do:"));
  expect(told.map((line) => line.replace(/^.*To do: (\w+) .*$/, "$1"))).toEqual([
    ...["Close", "Remove", "Remove", "Copy"],
  ]);
  const { stdout } = await svc(["doctor", "--fix", "--yes", "--json", ...at], { cwd });
  const { fixed, checks } = JSON.parse(stdout);
  expect(fixed.map(({ error }: { error: string | null }) => error)).toEqual(told.map(() => null));
  const rights = ["", "provider-keys/bfl.json"].map((name) => modeOf(join(dataDir, name)));
  expect(rights).toEqual([0o700, 0o600]);
  expect(readdirSync(join(dataDir, "assets/tmp"))).toEqual([]);
  expect(existsSync(join(dataDir, "backup.part"))).toBe(false);
  expect(sizeOf(join(dataDir, "svc.db-wal"))).toBe(0);
  const others = ["models/own.txt", "notes.txt"].map((name) => modeOf(join(dataDir, name)));
  expect(others).toEqual([0o644, 0o644]);
  const of = (id: string) => checks.find((each: { id: string }) => each.id === id)?.status;
  expect([of("data_dir_rights"), of("secret_files")]).toEqual(["ok", "ok"]);
  const again = await svc(["doctor", "--fix", ...at], { cwd });
  expect(again.stderr).toContain("There is nothing that --fix puts right.");
});

test("beside a server, what it works with stays, and rights are put right", async () => {
  const { cwd, dataDir, at } = await neglected();
  const lock = lockDirectory(dataDir);
  try {
    const { stdout } = await svc(["doctor", "--fix", "--yes", "--json", ...at], { cwd });
    expect(JSON.parse(stdout).fixed.map(({ id }: { id: string }) => id)).toEqual(["data_dir_rights"]);
    expect([modeOf(dataDir), readdirSync(join(dataDir, "assets/tmp"))]).toEqual([0o700, [DRAFT]]);
  } finally {
    lock?.release();
  }
});

test("a data folder that is not there is made, its user's alone", async () => {
  const cwd = emptyFolder();
  const dataDir = join(cwd, "new");
  const { stdout } = await svc(["doctor", "--fix", "--yes", "--json", "--data-dir", dataDir, ...OFF], {
    cwd,
  });
  expect(JSON.parse(stdout).fixed).toHaveLength(1);
  expect([modeOf(dataDir), readdirSync(dataDir)]).toEqual([0o700, []]);
});
