import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { findTarget } from "../../cli/build/targets.ts";
import { buildExecutable } from "../../cli/build.ts";
import packageJson from "../../package.json" with { type: "json" };
import { SVC } from "../helpers/server.ts";

setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../..");

/** A program small enough to watch: it loads sharp here, in a Worker, or not at all. */
const PROBE = `
const png = async () => {
  const { default: sharp } = await import("sharp");
  const create = { width: 8, height: 8, channels: 3, background: "red" };
  return (await sharp({ create }).png().toBuffer()).length;
};
const inWorker = () => new Promise((resolve, reject) => {
  const worker = new Worker(process.argv[3]);
  worker.onmessage = ({ data }) => { resolve(data); worker.terminate(); };
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.postMessage("go");
});
const command = process.argv[2];
if (command === "env") console.log(JSON.stringify({ dotenv: process.env.FROM_DOTENV, preload: globalThis.fromPreload }));
if (command === "image") console.log(await png());
if (command === "everywhere") console.log((await Promise.all([png(), inWorker(), inWorker(), png()])).join(" "));
if (command === "stack") throw new Error("on line 17");
`;
const PROBE_WORKER = `
self.onmessage = async () => {
  const { default: sharp } = await import("sharp");
  const create = { width: 8, height: 8, channels: 3, background: "red" };
  postMessage((await sharp({ create }).png().toBuffer()).length);
};
`;

const canMount = process.getuid?.() === 0 && Bun.spawnSync(["unshare", "-m", "true"]).exitCode === 0;

let source = "";
let probe = "";
let workspace = "";

beforeAll(async () => {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  source = mkdtempSync(join(ROOT, "dist/.probe-"));
  workspace = mkdtempSync(join(tmpdir(), "svc-packaging-"));
  probe = join(workspace, "probe");
  writeFileSync(join(source, "main.js"), PROBE);
  writeFileSync(join(source, "worker.js"), PROBE_WORKER);
  const entrypoints = ["main.js", "worker.js"].map((file) => relative(ROOT, join(source, file)));
  await buildExecutable({ root: ROOT, target: findTarget(ROOT, undefined), outfile: probe, entrypoints });
}, 120_000);

afterAll(() => {
  for (const folder of [source, workspace]) rmSync(folder, { recursive: true, force: true });
});

describe("the executable", () => {
  test("tells its version in an empty folder, without a home", async () => {
    const result = await run([SVC, "version"], { env: { PATH: "" } });
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toContain(packageJson.version);
  });

  test("carries the licence of every runtime dependency it contains, of libvips and of Bun", async () => {
    const { stdout, exitCode } = await run([SVC, "version", "--licenses"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Bun ${Bun.version}`);
    expect(stdout).toMatch(/@img\/sharp-libvips-\S+ [\d.]+\nLicence: LGPL-3\.0-or-later/);
    expect(stdout).toContain("GNU LESSER GENERAL PUBLIC LICENSE");
    for (const name of ["commander", "drizzle-orm", "hono", "mediabunny", "sharp"])
      expect(stdout).toContain(`\n${name} `);
  });

  test("ignores .env and bunfig.toml of the folder it runs in", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, ".env"), "FROM_DOTENV=1\n");
    writeFileSync(join(folder, "preload.js"), "globalThis.fromPreload = 1;\n");
    writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./preload.js"]\n');
    const { stdout } = await run([probe, "env"], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({});
  });

  test("names source lines in a stack trace", async () => {
    const { stderr } = await run([probe, "stack"]);
    expect(stderr).toMatch(/\.probe-\w+\/main\.js:17:/);
  });
});

describe("native libraries", () => {
  test("load in the main thread and in Workers at once", async () => {
    const { stdout, stderr } = await everywhere({ SVC_NATIVE_DIR: emptyFolder() });
    expect({ stdout, stderr }).toEqual({
      stdout: "99 99 99 99\n".replaceAll("99", firstWord(stdout)),
      stderr: "",
    });
    expect(Number(firstWord(stdout))).toBeGreaterThan(50);
  });

  test("are extracted once by several processes starting together", async () => {
    const folder = emptyFolder();
    const results = await Promise.all(
      Array.from({ length: 4 }, () => everywhere({ SVC_NATIVE_DIR: folder })),
    );
    expect(results.map((result) => result.exitCode)).toEqual([0, 0, 0, 0]);
    expect(filesIn(folder).filter((file) => file.endsWith(".tmp"))).toEqual([]);
    expect(filesIn(folder)).toHaveLength(2);
  });

  test("are replaced when damaged", async () => {
    const folder = emptyFolder();
    await run([probe, "image"], { env: { SVC_NATIVE_DIR: folder } });
    const library = filesIn(folder).find((file) => file.includes("libvips-cpp")) ?? "";
    const { size } = statSync(library);
    truncateSync(library, 1000);
    expect((await run([probe, "image"], { env: { SVC_NATIVE_DIR: folder } })).exitCode).toBe(0);
    expect(statSync(library).size).toBe(size);
  });

  test("go to XDG_CACHE_HOME, else to the home folder", async () => {
    const [cache, home] = [emptyFolder(), emptyFolder()];
    await run([probe, "image"], { env: { XDG_CACHE_HOME: cache, HOME: home } });
    await run([probe, "image"], { env: { HOME: home } });
    expect(readdirSync(join(cache, "svc/native"))).toEqual(readdirSync(join(home, ".cache/svc/native")));
  });

  test("are not loaded from a folder of the operator's choice that others may write to", async () => {
    const [open, home] = [emptyFolder(), emptyFolder()];
    expect((await run(["chmod", "0777", open])).exitCode).toBe(0);
    const { exitCode, stderr } = await run([probe, "image"], { env: { SVC_NATIVE_DIR: open, HOME: home } });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(`SVC_NATIVE_DIR cannot be used: ${open} is writable by everyone`);
    expect([...readdirSync(open), ...readdirSync(home)]).toEqual([]);
  });

  test.skipIf(!canMount)("fall back to a private temporary folder when home is read-only", async () => {
    const folder = emptyFolder();
    const result = await mounted("mount -t tmpfs -o ro none $HOME; exec $PROBE image", { TMPDIR: folder });
    expect(result.exitCode).toBe(0);
    const [name] = readdirSync(folder);
    expect(name).toMatch(/^svc-native-\d+$/);
    expect(statSync(join(folder, name ?? "")).mode & 0o777).toBe(0o700);
  });

  test.skipIf(!canMount)("skip a chosen folder on a filesystem mounted noexec", async () => {
    const chosen = emptyFolder();
    const result = await mounted("mount -t tmpfs -o noexec none $SVC_NATIVE_DIR; exec $PROBE image", {
      SVC_NATIVE_DIR: chosen,
    });
    expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  test.skipIf(!canMount)("say what was tried and the way out when no folder is usable", async () => {
    const [chosen, temporary] = [emptyFolder(), emptyFolder()];
    const script =
      "mount -t tmpfs -o noexec none $SVC_NATIVE_DIR; mount -t tmpfs -o ro none $HOME; mount -t tmpfs -o ro none $TMPDIR; exec $PROBE image";
    const { stderr, exitCode } = await mounted(script, { SVC_NATIVE_DIR: chosen, TMPDIR: temporary });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${chosen}: noexec`);
    expect(stderr).toMatch(/\.cache\/svc\/native: EROFS/);
    expect(stderr).toMatch(new RegExp(`${temporary}/svc-native-\\d+: EROFS`));
    expect(stderr).toContain("Set SVC_NATIVE_DIR to a writable folder on a filesystem mounted exec.");
  });

  test.skipIf(!canMount)("are used in place from a filled read-only folder", async () => {
    const folder = emptyFolder();
    await run([probe, "image"], { env: { SVC_NATIVE_DIR: folder } });
    const script =
      "mount --bind $SVC_NATIVE_DIR $SVC_NATIVE_DIR; mount -o remount,ro,bind $SVC_NATIVE_DIR; exec $PROBE image";
    const home = emptyFolder();
    const result = await mounted(script, { SVC_NATIVE_DIR: folder, HOME: home });
    expect({ exitCode: result.exitCode, home: readdirSync(home) }).toEqual({ exitCode: 0, home: [] });
  });
});

type Result = { exitCode: number; stdout: string; stderr: string };

/** Run in an empty folder with nothing in the environment but what the test gives. */
async function run(
  command: string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Result> {
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? emptyFolder(),
    env: { PATH: process.env.PATH ?? "", ...options.env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

function everywhere(env: Record<string, string>): Promise<Result> {
  return run([probe, "everywhere", `/$bunfs/root/${relative(ROOT, source)}/worker.js`], { env });
}

/** Run a shell line in a mount namespace of its own. */
function mounted(script: string, env: Record<string, string>): Promise<Result> {
  return run(["unshare", "-m", "sh", "-ec", script], { env: { HOME: emptyFolder(), PROBE: probe, ...env } });
}

function emptyFolder(): string {
  return mkdtempSync(join(workspace, "folder-"));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function firstWord(text: string): string {
  return text.split(" ")[0] ?? "";
}
