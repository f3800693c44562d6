import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { prepaidKey, svc, svcJson } from "./support/command.ts";
import { canMount, fill, removeDisks, smallDisk } from "./support/small-disk.ts";

setDefaultTimeout(120_000);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "8x8", sandbox: { delay_ms: 0 } };
const HANGING = { ...IMAGE, sandbox: { outcome: "hang" } };
const canTrace = Bun.which("strace") !== null;

interface Setup {
  readonly server: Server;
  readonly api: Api;
  readonly backups: string;
  /** A completed task, and its picture. */
  readonly done: string;
  readonly picture: Uint8Array<ArrayBuffer>;
  /** One that its upstream has, and one that is queued behind it. */
  readonly running: string;
  readonly queued: string;
}

let setup: Setup;

/** Moves the only content of a folder to where versions before stored it. */
function moveToEarlier(dataDir: string): void {
  const root = join(dataDir, "assets/sha256");
  const [name = ""] = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((each) =>
    /[0-9a-f]{64}$/.test(each),
  );
  const folder = join(root, name.slice(0, 2), name.slice(5, 7));
  mkdirSync(folder);
  renameSync(join(root, name), join(folder, name.slice(3)));
}

/** A server that was killed; its folder has a backup that was made while tasks were created. */
beforeAll(async () => {
  const server = await startServer({ args: ["--sandbox-concurrency", "1"] });
  const { dataDir } = server;
  const api = createApi(server.url, await prepaidKey(dataDir, "studio", "1000.00"));
  const { task_id: done, result } = await api.make(IMAGE);
  const picture = await download(result?.[0]);
  moveToEarlier(dataDir);
  const running = await api.accept(HANGING);
  await api.underWay(running);
  const queued = await api.accept(IMAGE);
  const backups = emptyFolder("backups");
  let isBackedUp = false;
  const creating = (async () => {
    while (!isBackedUp) await api.accept(IMAGE);
  })();
  await svcJson(["db", "backup", backups, "--data-dir", dataDir]);
  isBackedUp = true;
  await creating;
  await svcJson(["keys", "create", "--name", "late", "--data-dir", dataDir]);
  server.signal("SIGKILL");
  await server.exited;
  setup = { server, api, backups, done, picture, running, queued };
});

afterEach(async () => {
  await stopServers();
  removeDisks();
});
afterAll(stopServers);

const newFolder = () => join(emptyFolder("restored"), "data");

function restore(from: string, dataDir: string, ...flags: string[]) {
  return svcJson(["db", "restore", from, "--data-dir", dataDir, ...flags]) as Promise<
    Record<string, unknown>
  >;
}

test("a backup of a server at work is restored, adds up, and serves old tasks with their pictures", async () => {
  const { api, backups, done, picture, running, queued } = setup;
  const dataDir = newFolder();
  const restored = await restore(backups, dataDir);
  expect(restored).toMatchObject({ missing: [], left_out: [], live_tasks: 1 });
  expect(restored.ended_tasks).toBeGreaterThan(0);
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({
    adds_up: true,
    rows: { live_tasks: 1 },
  });
  expect(statSync(join(dataDir, "svc.db")).mode & 0o777).toBe(0o600);
  expect(await svcJson(["audit", "log", "--action", "backup.restore", "--data-dir", dataDir])).toMatchObject({
    entries: [{ after: { made_at: restored.made_at, ended_tasks: restored.ended_tasks } }],
  });
  const server = await startServer({ dataDir, args: ["--sandbox-concurrency", "1"] });
  const again = createApi(server.url, api.key);
  const old = await again.wait(done);
  expect(old.status).toBe("completed");
  expect(await download(old.result?.[0])).toEqual(picture);
  expect(await again.wait(queued)).toMatchObject({ status: "failed", error_code: "OUTCOME_UNKNOWN" });
  // What its upstream has is asked for, and not submitted again: the sandbox of this folder knows nothing of it.
  expect(await again.wait(running)).toMatchObject({ status: "failed" });
  expect(await again.make(IMAGE)).toMatchObject({ status: "completed" });
  await server.stop();
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({
    adds_up: true,
    sums: { held: "0.000000", captured: "0.020000" },
  });
});

test("tasks that no provider has run after a restore where the operator says so", async () => {
  const { api, backups, queued } = setup;
  const dataDir = newFolder();
  expect(await restore(backups, dataDir, "--submit-again")).toMatchObject({ ended_tasks: 0 });
  const server = await startServer({ dataDir });
  expect(await createApi(server.url, api.key).wait(queued)).toMatchObject({ status: "completed" });
});

test("an archive is written to standard output and restored from standard input", async () => {
  const { server } = setup;
  const archive = join(emptyFolder("archive"), "svc.tar");
  const writing = Bun.spawn([SVC, "db", "backup", "-", "--data-dir", server.dataDir], {
    env: cleanEnvironment(),
    stdout: Bun.file(archive),
    stderr: "pipe",
  });
  expect([await writing.exited, await writing.stderr.text()]).toEqual([
    0,
    expect.stringContaining("Backed up"),
  ]);
  expect(existsSync(join(server.dataDir, "backup.part"))).toBe(false);
  const extract = (bytes: Uint8Array<ArrayBuffer>, dataDir: string) => {
    const child = Bun.spawn([SVC, "db", "restore", "-", "--data-dir", dataDir, "--json"], {
      env: cleanEnvironment(),
      stdin: new Blob([bytes]),
      stdout: "pipe",
      stderr: "pipe",
    });
    return child.exited;
  };
  const bytes = new Uint8Array(readFileSync(archive));
  const [whole, cut, changed] = [newFolder(), newFolder(), newFolder()];
  expect(await extract(bytes, whole)).toBe(0);
  expect(await svcJson(["audit", "--data-dir", whole])).toMatchObject({ adds_up: true });
  expect(await extract(bytes.slice(0, -2048), cut)).toBe(1);
  bytes[200_000] = (bytes[200_000] ?? 0) ^ 1;
  expect(await extract(bytes, changed)).toBe(1);
  expect([existsSync(cut), existsSync(changed)]).toEqual([false, false]);
});

test.each([
  ["| head -c 1 >/dev/null", "nobody reads it any more"],
  ["> /dev/full", "the disk is full"],
])("an archive that cannot be written whole is an error, and nothing of it stays: %s", async (to, reason) => {
  const { server } = setup;
  const command = `"${SVC}" db backup - --data-dir "${server.dataDir}" ${to}; exit \${PIPESTATUS[0]}`;
  const child = Bun.spawn(["bash", "-c", command], { env: cleanEnvironment(), stderr: "pipe" });
  expect([await child.stderr.text(), await child.exited]).toEqual([
    `error: Cannot write the output: ${reason}.\n`,
    1,
  ]);
  expect(existsSync(join(server.dataDir, "backup.part"))).toBe(false);
});

test("a second backup links what the first has; a damaged one is refused by name, and nothing is written", async () => {
  const { server } = setup;
  const backups = emptyFolder("backups");
  const args = ["db", "backup", backups, "--data-dir", server.dataDir];
  await svcJson(args);
  const second = (await svcJson([...args, "--keep", "1"])) as {
    path: string;
    removed: string[];
    copied_bytes: number;
    bytes: number;
  };
  expect(second.removed).toHaveLength(1);
  expect(second.copied_bytes).toBeLessThan(second.bytes);
  expect(await svcJson(["db", "restore", backups, "--dry-run"])).toMatchObject({ path: second.path });
  const picture = readdirSync(join(second.path, "data/assets"), { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(second.path, "data/assets", name)).isFile(),
  )[0]!;
  writeFileSync(join(second.path, "data/assets", picture), "not the picture");
  const dataDir = newFolder();
  const { exitCode, stderr } = await svc(["db", "restore", backups, "--data-dir", dataDir, "--json"]);
  expect([exitCode, existsSync(dataDir)]).toEqual([1, false]);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: "backup_refused",
    problems: [{ path: `assets/${picture}` }],
  });

  // As the refusal says: the rest is restored, and the next backup is whole.
  const data = join(second.path, "data");
  expect(stderr).toContain(`svc db backup NEW --data-dir ${data}`);
  const rest = emptyFolder("rest");
  await svcJson(["db", "backup", rest, "--data-dir", data]);
  const restored = await svcJson(["db", "restore", rest, "--data-dir", dataDir]);
  expect(restored).toMatchObject({ missing: [{ path: `assets/${picture}`, reason: "damaged" }] });
  // The backup itself is as it was: damaged in this file alone.
  const still = await svc(["db", "check", second.path, "--json"]);
  expect(JSON.parse(still.stderr).error.problems).toHaveLength(1);
  rmSync(join(second.path, "data/assets", picture));
  await svcJson(args);
  expect(await svcJson(["db", "restore", backups, "--dry-run"])).toMatchObject({ missing: [] });
});

test("a folder with anything in it is left as it is", async () => {
  const dataDir = emptyFolder("full");
  writeFileSync(join(dataDir, "svc.yaml"), "port: 1234\n");
  const { exitCode, stderr } = await svc(["db", "restore", setup.backups, "--data-dir", dataDir]);
  expect([exitCode, readdirSync(dataDir)]).toEqual([7, ["svc.yaml"]]);
  expect(stderr).toContain("is not empty");
});

test("no server starts on a restore that was cut off, and a second restore makes it whole", async () => {
  const dataDir = newFolder();
  mkdirSync(join(dataDir, ".restoring/data"), { recursive: true });
  mkdirSync(join(dataDir, "assets"));
  const { exitCode, stderr } = await svc(["serve", "--data-dir", dataDir, "--port", "0"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("was cut off")]);
  await restore(setup.backups, dataDir);
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({ adds_up: true });
});

test.skipIf(!canTrace)(
  "a backup or a restore that is killed at any flush or rename leaves none that looks whole",
  async () => {
    const source = join(emptyFolder("source"), "data");
    cpSync(setup.server.dataDir, source, { recursive: true });
    const kill = async (call: string, when: number, args: readonly string[]) => {
      const inject = `inject=${call}:signal=SIGKILL:when=${when}`;
      const trace = ["strace", "-f", "-qqq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
      const child = Bun.spawn([...trace, SVC, ...args], {
        env: cleanEnvironment(),
        stdout: "ignore",
        stderr: "ignore",
      });
      return await child.exited;
    };
    const kills = [
      ...[1, 2, 4, 7].map((when) => ["fsync", when] as const),
      ["rename", 1],
      ["rename", 2],
    ] as const;
    for (const [call, when] of kills) {
      const backups = emptyFolder("backups");
      await kill(call, when, ["db", "backup", backups, "--data-dir", source]);
      const names = readdirSync(backups).filter((name) => /Z$/.test(name));
      const { exitCode } = await svc(["db", "restore", backups, "--dry-run"]);
      expect([call, when, exitCode]).toEqual([call, when, names.length === 0 ? 1 : 0]);
      const dataDir = newFolder();
      if ((await kill(call, when, ["db", "restore", setup.backups, "--data-dir", dataDir])) === 0) continue;
      // Either nothing that a server takes for data, or all of it.
      const isWhole = existsSync(join(dataDir, "svc.db")) && !existsSync(join(dataDir, ".restoring"));
      if (!isWhole) await restore(setup.backups, dataDir);
      expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({ adds_up: true });
    }
  },
);

test.skipIf(!canMount)("a full disk fails a backup and a restore, and leaves nothing behind", async () => {
  const disk = smallDisk(8);
  const filler = fill(disk);
  const full = await svc(["db", "backup", join(disk, "b"), "--data-dir", setup.server.dataDir]);
  expect(full.exitCode).toBe(1);
  filler.release();
  writeFileSync(join(disk, "most"), new Uint8Array(8_200_000));
  const later = await svc(["db", "backup", join(disk, "b"), "--data-dir", setup.server.dataDir]);
  expect([later.exitCode, later.stderr]).toEqual([1, expect.stringContaining("disk is full")]);
  expect(readdirSync(join(disk, "b")).filter((name) => name !== "backup.lock")).toEqual([]);
  const restored = await svc(["db", "restore", setup.backups, "--data-dir", join(disk, "data")]);
  expect([restored.exitCode, existsSync(join(disk, "data"))]).toEqual([1, false]);
});

test("a server makes backups by itself, keeps as many as it is told, and says when it cannot", async () => {
  const backups = emptyFolder("backups");
  const { path } = (await svcJson(["db", "backup", backups, "--data-dir", setup.server.dataDir])) as {
    path: string;
  };
  // An old one, so that the next is due.
  renameSync(path, join(backups, "2026-01-01T00-00-00Z"));
  const gone = join(backups, "not-mounted");
  const [server, failing] = await Promise.all(
    [backups, gone].map((to) =>
      startServer({ args: ["--backup-every", "10s", "--backup-to", to, "--backup-keep", "1"] }),
    ),
  );
  // The folder has backups of another data folder.
  expect(await server!.says(/could not be backed up/)).toContain("of another data folder");
  expect(await failing!.says(/could not be backed up/)).toContain("there is no such file or folder");
  expect(existsSync(gone)).toBe(false);
  const readiness = await fetch(`${failing!.url}/readyz?verbose`);
  expect([readiness.status, await readiness.json()]).toEqual([
    200,
    expect.objectContaining({ checks: expect.arrayContaining([{ id: "backups", status: "error" }]) }),
  ]);
  mkdirSync(gone);
  await failing!.says(/"backed up"/);
  expect(await svcJson(["db", "restore", gone, "--dry-run"])).toMatchObject({ missing: [] });
});
