import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blocksOf, readDocument, shownIn } from "../docs/blocks.ts";
import { missingLine } from "../docs/compare.ts";
import { emptyFolder, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";
import type { Played } from "./support/afar-namespace.ts";
import { svc } from "./support/command.ts";
import { inTerminal } from "./support/terminal.ts";

setDefaultTimeout(120_000);

/*
 * Administering a server from another machine with the compiled program: profiles on a real terminal, and two machines that
 * share nothing but a wire.
 */
let server: Server;
let token: string;
beforeAll(async () => {
  server = await startServer();
  const { stdout } = await svc(["tokens", "create", "--name", "laptop", "--data-dir", server.dataDir]);
  token = stdout.trim();
});
afterAll(stopServers);

const configHome = () => ({ XDG_CONFIG_HOME: emptyFolder("config") });
const profilesOf = (env: { XDG_CONFIG_HOME: string }) => join(env.XDG_CONFIG_HOME, "svc/profiles.json");

describe("svc login on a terminal", () => {
  test("shows nothing of what is typed, and keeps it for its owner alone", async () => {
    const env = configHome();
    const folder = emptyFolder("terminal");
    const terminal = inTerminal(["login", "--server", server.url], folder, env);
    await terminal.shows(/not shown\): /);
    terminal.press(`${token}\r`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.raw()).not.toContain(token);
    expect(terminal.screen()).toContain("with management token laptop (mt-svc-");
    expect(JSON.parse(readFileSync(profilesOf(env), "utf8")).profiles.default.token).toBe(token);

    const listed = await svc(["keys", "list"], { env });
    expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(listed.stdout).toContain("\tdefault\t");
  });

  test("is ended by Ctrl-C, with the terminal as it was", async () => {
    const terminal = inTerminal(["login", "--server", server.url], emptyFolder("terminal"), configHome());
    await terminal.shows(/not shown\): /);
    terminal.press("half\u0003");
    expect(await terminal.exited).toBe(130);
    expect(terminal.screen()).toContain("Interrupted.");
  });

  test("ends with its terminal", async () => {
    const terminal = inTerminal(["login", "--server", server.url], emptyFolder("terminal"), configHome());
    await terminal.shows(/not shown\): /);
    terminal.hangUp();
    expect(await terminal.exited).not.toBe(0);
  });
});

test("Ctrl-C answers a question about a server with no", async () => {
  const flags = ["--server", server.url, "--token", token];
  await svc(["accounts", "create", "asked", ...flags]);
  const terminal = inTerminal(["accounts", "suspend", "asked", ...flags], emptyFolder("terminal"));
  await terminal.shows(/\[y\/N\] /);
  terminal.press("\u0003");
  expect(await terminal.exited).toBe(130);
  expect(terminal.screen()).toContain("Interrupted.");
  const { stdout } = await svc(["accounts", "show", "asked", "--field", "status", ...flags]);
  expect(stdout).toBe("active\n");
});

test("a profile that others can read is refused, with what mends it", async () => {
  const env = configHome();
  mkdirSync(join(env.XDG_CONFIG_HOME, "svc"), { mode: 0o700 });
  await Bun.write(profilesOf(env), JSON.stringify({ profiles: { default: { server: server.url, token } } }));
  chmodSync(profilesOf(env), 0o644);
  const { exitCode, stdout, stderr } = await svc(["keys", "list"], { env });
  expect({ exitCode, stdout }).toEqual({ exitCode: 12, stdout: "" });
  expect(stderr).toContain(`chmod 600 '${profilesOf(env)}'`);
  expect(stderr).not.toContain(token);
});

test("with a token and a folder at hand a flag must say which is meant", async () => {
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: token };
  const run = (...args: string[]) => svc(["keys", "list", ...args], { folder: server.folder, env });
  const unclear = await run();
  expect(unclear).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unclear.stderr).toContain("--local for the folder, --server URL or --profile NAME for the server");
  const [there, here] = [await run("--server", server.url), await run("--local")];
  expect(there).toMatchObject({ exitCode: 0, stderr: "" });
  expect(there.stdout).toBe(here.stdout);
});

test("the books of a running server are checked in the executable's own thread", async () => {
  const flags = ["--server", server.url, "--token", token];
  expect(await svc(["audit", "--field", "adds_up", ...flags])).toEqual({
    exitCode: 0,
    stdout: "true\n",
    stderr: "",
  });
});

const ISOLATED = "unshare --net --mount --pid --fork --mount-proc --kill-child=SIGKILL".split(" ");
const ADD_WIRE = "ip link add wire0 type veth peer name wire1".split(" ");
const canIsolate =
  process.platform === "linux" &&
  Bun.which("unshare") !== null &&
  Bun.which("ip") !== null &&
  Bun.spawnSync([...ISOLATED, ...ADD_WIRE]).success;
if (!canIsolate) {
  console.warn(
    "Skipped: administration over a wire needs Linux, root, unshare and ip, and virtual interfaces.",
  );
}

test.skipIf(!canIsolate)("one machine administers another as docs/operating.md shows it", async () => {
  const blocks = blocksOf(await readDocument("docs/operating.md"));
  const block = blocks.find(({ text }) => text.includes("192.0.2.10"));
  if (block === undefined) throw new Error("The document has no such block.");
  const shown = shownIn(block);
  const script = join(import.meta.dir, "support/afar-namespace.ts");
  const commands = JSON.stringify(shown.map(({ command }) => command));
  const child = Bun.spawn([...ISOLATED, process.execPath, script, commands], {
    // A folder of its own, too: processes that it cannot see have theirs beside it.
    env: { ...process.env, SVC_BIN: SVC, TMPDIR: emptyFolder("network") },
    stdout: "pipe",
    stderr: "pipe",
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`The machines did not work: ${complaint}`);
  const played = JSON.parse(text) as Played[];
  expect(played).toHaveLength(shown.length);
  const differing = shown.flatMap(({ command, output, exitCode }, i) => {
    const missing = missingLine(output, played[i]?.output ?? "");
    const isAsShown = missing === undefined && played[i]?.exitCode === exitCode;
    return isAsShown ? [] : [{ command, missing, ...played[i] }];
  });
  expect(differing).toEqual([]);
});
