import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { svc as svcHere } from "../cli/support.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { createApi, download } from "./support/api.ts";
import { prepaidKey, svc, svcJson } from "./support/command.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { noisePng, plainImage } from "./support/pictures.ts";
import { canMount, removeDisks, smallDisk } from "./support/small-disk.ts";
import { inTerminal } from "./support/terminal.ts";

setDefaultTimeout(120_000);

let server: Server;
let key = "";

beforeAll(async () => {
  server = await startServer();
  key = server.firstKey();
});

afterAll(async () => {
  await stopServers();
  removeDisks();
});

const access = (url = server.url) => ({ SVC_SERVER: url, SVC_API_KEY: key });
const run = (args: readonly string[], folder = emptyFolder(), url = server.url) =>
  svc(args, { folder, env: access(url) });
const slow = (delayMs: number, more = "") => ["-i", `sandbox:={"delay_ms":${delayMs}${more}}`];
const QUICK = slow(0);

/** Starts a command whose output is read when it has ended. */
function start(args: readonly string[], folder: string, env: Readonly<Record<string, string>> = access()) {
  const child = Bun.spawn([SVC, ...args], {
    ...{ cwd: folder, env: cleanEnvironment(env), stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const ended = Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { child, ended: ended.then(([exitCode, stdout, stderr]) => ({ exitCode, stdout, stderr })) };
}

interface ShownModel {
  readonly schema: {
    readonly properties: Readonly<Record<string, { readonly default?: unknown } | undefined>>;
  };
}

/** The id of the latest task, once there is one that is not `before`. */
async function taskAfter(before: string | undefined): Promise<string> {
  for (;;) {
    const { data } = await createApi(server.url, key).send("/v1/tasks?limit=1");
    const id = data.tasks?.[0]?.task_id;
    if (id !== undefined && id !== before) return id;
    await Bun.sleep(20);
  }
}
const latest = async () =>
  (await createApi(server.url, key).send("/v1/tasks?limit=1")).data.tasks?.[0]?.task_id;

describe("svc image, edit and video", () => {
  test("make a file from a prompt, and one from that", async () => {
    const folder = emptyFolder();
    const image = await run(["image", "A lighthouse", "-i", "size=64x64", ...QUICK], folder);
    expect([image.exitCode, image.stdout]).toEqual([0, "./a-lighthouse.png\n"]);
    expect(image.stderr).toStartWith("model  sandbox-image  ~0.01 USD  (the only one that takes this;");
    const edit = await run(["edit", "a-lighthouse.png", "in winter", ...QUICK], folder);
    expect([edit.exitCode, edit.stdout]).toEqual([0, "./in-winter.png\n"]);
    const video = await run(["video", "waves", "-i", "duration=1", "-o", "w.mp4", ...QUICK], folder);
    expect([video.exitCode, video.stdout]).toEqual([0, "./w.mp4\n"]);
    expect(readdirSync(folder).sort()).toEqual(["a-lighthouse.png", "in-winter.png", "w.mp4"]);
  });

  test("write one result to standard output, byte by byte", async () => {
    const made = Bun.spawn([SVC, "image", "x", "-i", "size=64x64", ...QUICK, "-o", "-", "-q"], {
      ...{ cwd: emptyFolder(), env: cleanEnvironment(access()), stdin: "ignore", stdout: "pipe" },
    });
    const bytes = await made.stdout.bytes();
    const { data } = await createApi(server.url, key).send("/v1/tasks?limit=1");
    expect(bytes).toEqual(
      await download((await createApi(server.url, key).wait(data.tasks?.[0]?.task_id ?? "")).result?.[0]),
    );
  });

  test("take a prompt of 32,000 characters from a file; what is too long is told before it is sent", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, "long.txt"), "é".repeat(32_000));
    writeFileSync(join(folder, "fits.txt"), "é".repeat(4_000));
    const before = await latest();
    const long = await run(["image", "-p", "@long.txt"], folder);
    expect([long.exitCode, long.stderr]).toEqual([
      2,
      expect.stringContaining("--prompt must have 1 to 4000 characters; got 32000."),
    ]);
    expect(await latest()).toBe(before);
    const fits = await run(["image", "-p", "@fits.txt", "-i", "size=64x64", ...QUICK], folder);
    expect([fits.exitCode, [...fits.stdout].length]).toEqual([0, "./.png\n".length + 48]);
  });
});

describe("svc models show", () => {
  test("prints an example for every model of the sandbox that works when it is pasted", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, "photo.png"), await plainImage(64, 48));
    await run(
      ["video", "waves", "-i", "duration=1", "-i", "aspect_ratio=1:1", "-o", "clip.mp4", ...QUICK],
      folder,
    );
    const { models } = (await svcJson(["models", "list"], { env: access() })) as { models: { id: string }[] };
    const ids = models.map(({ id }) => id).filter((id) => id.startsWith("sandbox-"));
    expect(ids.length).toBeGreaterThanOrEqual(6);
    const paste = async (id: string) => {
      const terminal = inTerminal(["models", "show", id], folder, access());
      await terminal.exited;
      const example = terminal.screen().trimEnd().split("\n").at(-1) ?? "";
      expect(example).toStartWith("svc ");
      const shown = await svcHere(["models", "show", id, "--json"], { env: cleanEnvironment(access()) });
      const { schema } = JSON.parse(shown.stdout) as ShownModel;
      // Where a film has a default of length and shape, a second of a square is enough.
      const smaller = ["duration=1", "aspect_ratio=1:1"]
        .filter((each) => schema.properties[each.split("=")[0] ?? ""]?.default !== undefined)
        .map((each) => ` -i ${each}`)
        .join("");
      const pasted = Bun.spawn(["sh", "-c", example.replace(/^svc /, `"${SVC}" `) + smaller], {
        ...{ cwd: folder, env: cleanEnvironment(access()), stdout: "pipe", stderr: "pipe" },
      });
      const [exitCode, stdout, stderr] = await Promise.all([
        ...[pasted.exited, pasted.stdout.text(), pasted.stderr.text()],
      ]);
      expect({ example, exitCode, stderr }).toEqual({ example, exitCode: 0, stderr: expect.any(String) });
      expect(existsSync(join(folder, String(stdout).trim()))).toBe(true);
    };
    await Promise.all(ids.map(paste));
    // Films, drawn at a low priority.
  }, 240_000);
});

describe("svc task submit --wait", () => {
  test("outlives a server that is killed and starts again", async () => {
    const own = await startServer();
    const env = { SVC_SERVER: own.url, SVC_API_KEY: own.firstKey() };
    const folder = emptyFolder();
    const { ended } = start(["image", "x", "-i", "size=64x64", ...slow(2_500), "-o", "a.png"], folder, env);
    const api = createApi(own.url, own.firstKey());
    while ((await api.send("/v1/tasks")).data.tasks?.length !== 1) await Bun.sleep(20);
    own.signal("SIGKILL");
    await own.exited;
    await startServer({ folder: own.folder, dataDir: own.dataDir, port: own.port });
    const { exitCode, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining("The server answers again."),
    });
    expect(stderr).toContain("The task goes on; waiting for the server.");
    expect(readdirSync(folder)).toEqual(["a.png"]);
  });

  test("says at Ctrl-C how to go on", async () => {
    // Nothing tells that it has its answer. Interrupted before, it says that it does not know.
    for (let patienceMs = 0; ; patienceMs += 250) {
      const before = await latest();
      const { child, ended } = start(["image", "x", ...slow(60_000)], emptyFolder());
      const id = await taskAfter(before);
      await Bun.sleep(patienceMs);
      child.kill("SIGINT");
      const { exitCode, stderr } = await ended;
      expect((await run(["task", "cancel", id])).exitCode).toBe(0);
      if (stderr.includes("The server may have accepted it.") && patienceMs < 5_000) continue;
      expect([exitCode, stderr]).toEqual([130, expect.stringContaining(`svc task wait ${id}`)]);
      return;
    }
  });

  test("shows a bar that fits 20 columns, tells the terminal, and cleans up after itself", async () => {
    const terminal = inTerminal(
      ["image", "x", "-i", "size=64x64", ...slow(1_500), "--preview", "none"],
      emptyFolder(),
      access(),
      { columns: 20, rows: 24 },
    );
    await terminal.draws(/^▕█*░*▏ \d+ % \d+ s$/m);
    expect(await terminal.exited).toBe(0);
    expect(terminal.frame().join("\n")).not.toContain("▕");
    const told = terminal
      .raw()
      .split("\u001b]9;4;")
      .slice(1)
      .map((each) => each.slice(0, 1));
    expect([told[0], told.at(-1)]).toEqual(["3", "0"]);
  });

  test("writes nothing but the result with --quiet, and no terminal sequence where TERM is dumb", async () => {
    const args = ["image", "x", "-i", "size=64x64", ...slow(300), "--preview", "none"];
    const quiet = inTerminal([...args, "-q"], emptyFolder(), access());
    expect(await quiet.exited).toBe(0);
    expect(quiet.screen().trim()).toMatch(/^saved \.\/x\.png \(.*\)$/);
    const dumb = inTerminal(args, emptyFolder(), { ...access(), TERM: "dumb" });
    expect(await dumb.exited).toBe(0);
    expect([quiet, dumb].map((each) => each.raw().includes("\u001b"))).toEqual([false, false]);
  });
});

describe("a download", () => {
  /** A task whose one result is large: a picture of noise, restyled by nobody. */
  async function large(): Promise<{ id: string; url: string }> {
    const folder = emptyFolder();
    const made = await svcJson(
      ["task", "submit", "-m", "sandbox-image", "-p", "x", "-i", "size=4096x4096", ...QUICK, "--wait"],
      { folder, env: access() },
    );
    const { task_id: id, result } = made as { task_id: string; result: string[] };
    return { id, url: result[0] ?? "" };
  }

  test("goes on where each connection is cut, and the same bytes arrive", async () => {
    const { id, url } = await large();
    const whole = await download(url);
    // No connection lasts for the whole file.
    const mostBytes = Math.ceil(whole.length / 3);
    const proxy = await openCuttingProxy(server.port, mostBytes);
    const folder = emptyFolder();
    const { exitCode, stderr } = await run(["task", "download", id, "-o", "a.png"], folder, proxy.url);
    await proxy.close();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(readdirSync(folder)).toEqual(["a.png"]);
    expect(Buffer.compare(readFileSync(join(folder, "a.png")), whole)).toBe(0);
    expect(mostBytes).toBeGreaterThan(20_000);
  });

  test.skipIf(!canMount)("onto a full disk leaves nothing of a file, and says how to get it", async () => {
    const made = emptyFolder();
    writeFileSync(join(made, "noise.png"), await noisePng(1200, 1200));
    const edit = await svcJson(["edit", "noise.png", "x", ...QUICK], { folder: made, env: access() });
    const { task_id: id, files } = edit as { task_id: string; files: { size_bytes: number }[] };
    expect(files[0]?.size_bytes).toBeGreaterThan(1_100_000);
    const disk = smallDisk(1);
    mkdirSync(join(disk, "out"));
    const { exitCode, stderr } = await run(["task", "download", id, "-o", "out"], disk);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("the disk is full")]);
    expect(stderr).toContain(`svc task download ${id} -o FOLDER`);
    expect(readdirSync(join(disk, "out"))).toEqual([]);
  });
});

describe("svc task retry", () => {
  test("makes a failed task again", async () => {
    const failing = slow(0, ',"outcome":"failed"');
    const failed = await run([
      "task",
      "submit",
      "-m",
      "sandbox-image",
      "-p",
      "x",
      ...failing,
      "--wait",
      "--json",
    ]);
    expect(failed.exitCode).toBe(3);
    const { task_id: id } = JSON.parse(failed.stdout) as { task_id: string };
    const again = await run(["task", "retry", id, "--wait"]);
    expect(again.exitCode).toBe(3);
    expect(again.stderr).not.toContain(id);
  });

  test("of another account's task is not found, and nothing else is done with it", async () => {
    const id = (await latest()) ?? "";
    const SVC_API_KEY = await prepaidKey(server.dataDir, "stranger", "1.00");
    const env = cleanEnvironment({ ...access(), SVC_API_KEY });
    for (const command of ["get", "wait", "retry", "open", "download", "cancel"])
      expect((await svcHere(["task", command, id], { env })).exitCode).toBe(5);
  });
});
