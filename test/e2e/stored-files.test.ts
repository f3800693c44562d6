import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emptyFolder, type Server, SVC, startServer, stopServers } from "../helpers/server.ts";
import { canTrace, injecting } from "../torture/syscalls-killer.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
const LONG_AGO_SEC = Date.now() / 1000 - 7_200;

const pathOf = ({ dataDir }: Pick<Server, "dataDir">, sha256: string) =>
  join(dataDir, "assets", "sha256", sha256.slice(0, 2), sha256);

/** Puts a file there that no task has, as if it had been stored long ago. */
function orphan(server: Pick<Server, "dataDir">, digit: string): string {
  const path = pathOf(server, digit.repeat(64));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, digit);
  utimesSync(path, LONG_AGO_SEC, LONG_AGO_SEC);
  return path;
}

function contents({ dataDir }: Pick<Server, "dataDir">): string[] {
  const folder = join(dataDir, "assets", "sha256");
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 60);
}

/** Makes a task. @returns its id and the address of its file */
async function make(api: ReturnType<typeof createApi>, body = IMAGE) {
  const { task_id: id, result } = await api.make(body);
  return { id, url: String((result as string[])[0]) };
}

test("a damaged file is told, its task says so, and beside a running server what no task has goes", async () => {
  const server = await startServer();
  const api = createApi(server.url, server.firstKey());
  const at = ["--data-dir", server.dataDir];
  const { id, url } = await make(api);
  const listed = (await svcJson(["assets", "list", ...at])) as {
    assets: { sha256: string; task_id: string }[];
  };
  expect(listed.assets.map((asset) => asset.task_id)).toEqual([id]);
  const path = pathOf(server, listed.assets[0]?.sha256 ?? "");
  const [left, whole] = [orphan(server, "a"), readFileSync(path)];
  utimesSync(path, LONG_AGO_SEC, LONG_AGO_SEC);
  const found = { files: 1, size_bytes: 1, contents: [{ sha256: "a".repeat(64) }] };
  expect(await svcJson(["assets", "gc", "--dry-run", ...at])).toMatchObject({ dry_run: true, ...found });
  expect((await svc(["assets", "gc", ...at])).exitCode).toBe(2);
  expect(existsSync(left)).toBe(true);
  expect(await svcJson(["assets", "gc", "--yes", ...at])).toMatchObject({ dry_run: false, ...found });
  expect([existsSync(left), (await fetch(url)).status]).toEqual([false, 200]);

  writeFileSync(path, "not the picture");
  const verified = await svc(["assets", "verify", "--json", ...at]);
  expect([verified.exitCode, JSON.parse(verified.stdout).damaged]).toEqual([
    1,
    [{ sha256: listed.assets[0]?.sha256, what: "changed", tasks: [id], uploads: [] }],
  ]);
  const issues = async () =>
    JSON.parse((await api.send(`/v1/tasks/${id}`)).text).data.result_issues as unknown;
  while ((await issues()) === undefined) await Bun.sleep(20);
  expect(await issues()).toMatchObject([{ index: 0, code: "FILE_DAMAGED" }]);
  writeFileSync(path, whole);
  expect((await svc(["assets", "verify", ...at])).exitCode).toBe(0);
  while ((await issues()) !== undefined) await Bun.sleep(20);
});

test.skipIf(!canTrace())(
  "a collection that is killed at any of its steps loses nothing, and the next one ends it",
  async () => {
    const server = await startServer();
    const { url } = await make(createApi(server.url, server.firstKey()));
    const [needed = ""] = contents(server);
    const path = join(server.dataDir, "assets", "sha256", needed);
    for (const call of ["rename", "unlink", "mkdir"] as const) {
      const left = orphan(server, "b");
      utimesSync(path, LONG_AGO_SEC, LONG_AGO_SEC);
      const command = [
        ...injecting({ call, count: 1 }),
        SVC,
        "assets",
        "gc",
        "--yes",
        "--data-dir",
        server.dataDir,
      ];
      await Bun.spawn(command, { cwd: emptyFolder("killed"), stdout: "ignore", stderr: "ignore" }).exited;
      await svcJson(["assets", "gc", "--yes", "--data-dir", server.dataDir]);
      expect([call, existsSync(left), existsSync(path)]).toEqual([call, false, true]);
      expect(readdirSync(join(server.dataDir, "assets", "leaving"))).toEqual([]);
    }
    expect((await fetch(url)).status).toBe(200);
  },
);

/** Kills the process at its next call of a kind. Resolves once the tracer watches. */
async function killAt(pid: number, call: string, count: number): Promise<void> {
  const inject = `inject=${call}:signal=SIGKILL:when=${count}`;
  const tracer = Bun.spawn(
    ["strace", "-f", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject, "-p", String(pid)],
    { stdout: "ignore", stderr: "pipe" },
  );
  const reader = tracer.stderr.getReader();
  await reader.read();
  reader.releaseLock();
}

test.skipIf(!canTrace())(
  "a server that is killed while it deletes a task has deleted all of it, or nothing",
  async () => {
    let server = await startServer();
    const folder = server.folder;
    for (const [call, count] of [
      ["pwrite64", 1],
      ["pwrite64", 3],
      ["fdatasync,fsync", 1],
      ["unlink,unlinkat", 1],
      ["sendto,writev,write", 1],
    ] as const) {
      const key = server.firstKey();
      const { id, url } = await make(createApi(server.url, key), { ...IMAGE, prompt: `${call} ${count}` });
      const before = contents(server).length;
      await killAt(server.pid, call, count);
      const headers = { Authorization: `Bearer ${key}` };
      const remove = async () =>
        (await fetch(`${server.url}/v1/tasks/${id}`, { method: "DELETE", headers })).status;
      const status = await remove().catch(() => 0);
      server.signal("SIGKILL");
      await server.exited;
      const { port } = server;
      server = await startServer({ folder, port });
      const task = (await fetch(`${server.url}/v1/images/status/${id}`, { headers })).status;
      const file = (await fetch(url)).status;
      expect([call, task, file]).toEqual([call, file, task]);
      if (status === 200) expect(task).toBe(404);
      expect(await remove()).toBe(200);
      expect((await fetch(url)).status).toBe(404);
      const audit = (await svcJson(["audit", "--data-dir", server.dataDir])) as { adds_up: boolean };
      expect(audit.adds_up).toBe(true);
      for (const name of contents(server))
        utimesSync(join(server.dataDir, "assets", "sha256", name), LONG_AGO_SEC, LONG_AGO_SEC);
      await svcJson(["assets", "gc", "--yes", "--data-dir", server.dataDir]);
      expect(contents(server)).toHaveLength(before - 1);
    }
  },
);
