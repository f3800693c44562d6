import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, statfsSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { blocksOf, readDocument, type Shown, shownIn } from "../docs/blocks.ts";
import { missingLine } from "../docs/compare.ts";
import {
  cleanEnvironment,
  emptyFolder,
  SVC,
  spawnServer,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";
import { canSetClocks, openClock } from "./support/settable-clock.ts";
import { canMount, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);
afterAll(async () => {
  await stopServers();
  removeDisks();
});

const DAY_MS = 86_400_000;
const DISK_MB = 64;
/** Less than what is refused below, which is a tenth of so small a disk. */
const LEFT_MB = 5;

/** What docs/operating.md shows. */
async function shownCommands(): Promise<readonly Shown[]> {
  const blocks = blocksOf(await readDocument("docs/operating.md"));
  const block = blocks.find(({ text }) => text.includes("told.json"));
  if (block === undefined) throw new Error("The document has no such block.");
  return shownIn(block);
}

/** Has the one stored picture take so much of the disk. */
function enlarge(dataDir: string, sizeBytes: number): void {
  const folder = join(dataDir, "assets/sha256");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const file = names.find((name) => /[0-9a-f]{64}$/.test(name));
  if (file === undefined) throw new Error("Nothing is stored.");
  writeFileSync(join(folder, file), new Uint8Array(sizeBytes));
  using db = new Database(join(dataDir, "svc.db"));
  db.run("update asset set size_bytes = ?", [sizeBytes]);
}

/** Leaves so much of a disk, which the rest of the machine has taken. */
function fillUpTo(disk: string, leftBytes: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, "others"), new Uint8Array(bavail * bsize - leftBytes));
}

/** Runs what is shown, with the server's port in place of the document's. @returns what differs from what is shown */
function play(shown: readonly Shown[], { folder, port, key }: { folder: string; port: number; key: string }) {
  const bin = emptyFolder("bin");
  symlinkSync(SVC, join(bin, "svc"));
  const PATH = `${bin}:${dirname(process.execPath)}:${process.env.PATH}`;
  const env = { PATH, SVC_API_KEY: key, SVC_SERVER: `http://127.0.0.1:${port}`, SVC_PORT: "0" };
  return shown.flatMap(({ command, output }) => {
    const line = command.replaceAll("127.0.0.1:8787", `127.0.0.1:${port}`);
    const ran = Bun.spawnSync(["sh", "-c", `exec 2>&1\n${line}`], {
      ...{ cwd: folder, env: cleanEnvironment(env), timeout: 60_000 },
    });
    const missing = missingLine(output, ran.stdout.toString());
    return missing === undefined ? [] : [{ command, missing, said: ran.stdout.toString() }];
  });
}

test.skipIf(!canMount || !canSetClocks)(
  "a disk fills, the operator is told what to set, sets it, and tasks are taken again (needs root on Linux)",
  async () => {
    const disk = smallDisk(DISK_MB);
    const dataDir = join(disk, "svc-data");
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "svc.yaml"), 'alerts: [{ on: all, to: [sh, -c, "cat >>told.json"] }]\n');
    const clock = openClock();
    clock.set(-40 * DAY_MS);
    const first = await startServer({ folder: disk, dataDir, env: clock.env });
    const key = first.firstKey();
    const api = createApi(first.url, key);
    await api.make({ model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } });
    await first.stop();
    enlarge(dataDir, 12_000_000);
    fillUpTo(disk, LEFT_MB * 1_000_000);

    const server = spawnServer({ folder: disk, dataDir });
    await server.says(/alerts were sent/);
    const differing = play(await shownCommands(), { folder: disk, port: server.port, key });
    expect(differing).toEqual([]);
  },
);

test.skipIf(!canMount)(
  "commands say that the disk is full, and what to do (needs root on Linux)",
  async () => {
    const disk = smallDisk(DISK_MB);
    const dataDir = join(disk, "svc-data");
    const run = (...args: string[]) => svc([...args, "--data-dir", dataDir], { folder: disk });
    expect((await run("migrate", "up")).exitCode).toBe(0);
    fillUpTo(disk, 0);
    for (const command of [
      ["serve", "--port", "0"],
      ["migrate", "up"],
      ["db", "vacuum"],
      ["keys", "create", "--name", "x"],
    ]) {
      const { exitCode, stderr } = await run(...command);
      expect([command, exitCode]).toEqual([command, 1]);
      expect(stderr).toContain("error: The disk is full.\n  Free some space on the disk of the data folder");
    }
    // One that was killed left its log, which takes room to be read.
    writeFileSync(join(dataDir, "svc.db-wal"), "");
    const { exitCode, stdout, stderr } = await run("db", "check");
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("error: The disk is full.\n  Free some space on the disk of the data folder");
    const { stdout: findings } = await run("doctor", "--plain");
    expect(findings).toMatch(
      /^error\tdatabase\t.*svc\.db cannot be read now: The disk is full\.\tFree some space/m,
    );
    expect(findings).not.toContain("damaged");
  },
);
