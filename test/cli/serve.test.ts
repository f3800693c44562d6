import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { reloadOnSignal } from "../../cli/serve/stop-signals.ts";
import { emptyFolder, type RunOptions, spawnSvc, svc } from "./support.ts";

/** Starts a server and reads its log up to the line that says where it is. */
async function serve(args: readonly string[], options: RunOptions = {}) {
  const cwd = options.cwd ?? emptyFolder();
  const child = spawnSvc(["serve", ...args], { ...options, cwd });
  const lines: Record<string, unknown>[] = [];
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  /** Reads until a line has this message, or the end. */
  const until = async (message: string) => {
    for (;;) {
      const found = lines.find(({ msg }) => msg === message);
      if (found !== undefined) return found;
      const { value, done } = await reader.read();
      if (done)
        throw new Error(`The server ended without saying "${message}": ${JSON.stringify(lines)}${rest}`);
      const parts = (rest + value).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.map((line) => JSON.parse(line)));
    }
  };
  const { url } = await until("ready");
  return { child, cwd, url: String(url), lines, until };
}

const FIRST_KEY = "the first API key was written to a file; take it from there and delete the file";

describe("serving", () => {
  test("without a terminal logs JSON, warns of what is odd, keeps the first key in a file for its owner, and stops in order", async () => {
    const { child, cwd, url, until } = await serve(["--port", "0"], { env: { SVC_PROT: "1" } });
    await until("SVC_PROT is set, but is no setting of svc. Did you mean SVC_PORT?");
    const path = join(cwd, "svc-data/bootstrap.json");
    expect((await until(FIRST_KEY)).file).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { key } = JSON.parse(readFileSync(path, "utf8"));
    const models = await svc(["models", "list"], { env: { SVC_SERVER: url, SVC_API_KEY: key } });
    expect(models.stdout).toContain("sandbox-image\timage\t");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(await child.stdout.text()).toBe("");
  });

  test.each(["serve --port 0", "migrate"])(
    "svc %s makes no new database beside the files of a lost one",
    async (command) => {
      const cwd = emptyFolder();
      const dataDir = join(cwd, "svc-data");
      const databases = () => readdirSync(dataDir).filter((name) => name.startsWith("svc.db"));
      await svc(["migrate"], { cwd });
      const file = join(dataDir, "assets/sha256/ab/cd/abcd");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "a picture");
      expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
      for (const name of databases()) rmSync(join(dataDir, name));
      const { exitCode, stderr } = await svc(command.split(" "), { cwd });
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining("has the files of one, which a new database"),
      ]);
      expect(databases()).toEqual([]);
    },
  );

  test("the second time has no first key to tell, keeps others from its folder, and ends with 0 at Ctrl-C too", async () => {
    const cwd = emptyFolder();
    await svc(["migrate"], { cwd });
    await svc(["keys", "create", "--name", "x"], { cwd });
    const { child, lines } = await serve(["--port", "0", "--host", "0.0.0.0"], { cwd });
    const { exitCode, stderr } = await svc(["serve", "--port", "0"], { cwd });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Another svc works on")]);
    if (process.platform === "linux") expect(stderr).toContain(` (pid ${child.pid}): a server, or`);
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
    expect(lines.some(({ msg }) => msg === FIRST_KEY)).toBe(false);
  });

  test("on a port that is taken says so, and who has it", async () => {
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    const { exitCode, stderr } = await svc(["serve", "--port", String(server.port)]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Port ${server.port} is in use`);
    if (process.platform === "linux") expect(stderr).toContain(`by pid ${process.pid} `);
    expect(stderr).toContain("Use --port ");
  });

  test("with unusable settings does not begin", async () => {
    const { exitCode, stderr } = await svc(["serve", "--port", "x"], { env: { SVC_LOG_LEVEL: "loud" } });
    expect(exitCode).toBe(12);
    expect(stderr).toContain("The configuration has 2 problems:\n  --port: must be an integer");
    expect(stderr).toContain("  SVC_LOG_LEVEL: must be one of debug");
  });
});

describe("a second signal", () => {
  const MODULE = join(import.meta.dir, "../../cli/serve/stop-signals.ts");
  const SCRIPT = `
    import { stopOnSignals } from ${JSON.stringify(MODULE)};
    stopOnSignals({ stop() { console.log("stopping"); return new Promise(() => {}); } }, () => {}, () => {});
    setInterval(() => {}, 1000);
    console.log("ready");
  `;

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s ends a process that does not come to an end, with exit code %i",
    async (signal, expected) => {
      const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdout: "pipe" });
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      expect((await reader.read()).value).toBe("ready\n");
      child.kill("SIGTERM");
      expect((await reader.read()).value).toBe("stopping\n");
      child.kill(signal);
      expect(await child.exited).toBe(expected);
    },
  );
});

test("a reload that is asked for while the server starts is made once it has started", () => {
  const before = process.listeners("SIGHUP");
  try {
    const reloadWith = reloadOnSignal();
    process.emit("SIGHUP");
    let count = 0;
    reloadWith(() => {
      count += 1;
    });
    expect(count).toBe(1);
    process.emit("SIGHUP");
    expect(count).toBe(2);
  } finally {
    for (const listener of process.listeners("SIGHUP"))
      if (!before.includes(listener)) process.off("SIGHUP", listener);
  }
});
