import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { lockDirectory } from "../../src/runtime/directory-lock.ts";
import { svc as svcHere } from "../cli/support.ts";
import { freePort } from "../helpers/free-port.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";

setDefaultTimeout(120_000);

const HOUR_MS = 3_600_000;
let server: Server;
let token: string;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly message?: string;
  readonly fix?: string | null;
}

beforeAll(async () => {
  server = await startServer({
    args: ["--callbacks-delays-seconds", "0.01", "--egress-allow", "127.0.0.0/8"],
  });
  token = (await here("tokens", "create", "--name", "doctor", "--data-dir", server.dataDir)).token;
});
afterAll(stopServers);

async function here(...args: string[]) {
  const env = cleanEnvironment({ SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() });
  const { exitCode, stdout, stderr } = await svcHere([...args, "--json"], { env });
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Runs the executable on the server's folder. */
async function doctor(...args: string[]): Promise<{ exitCode: number; checks: readonly Check[] }> {
  const child = Bun.spawn(
    [SVC, "doctor", "--data-dir", server.dataDir, "--port", String(server.port), "--json", ...args],
    {
      cwd: emptyFolder("doctor"),
      env: cleanEnvironment(),
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  const { checks } = JSON.parse(await child.stdout.text());
  return { exitCode: await child.exited, checks };
}

interface ReadinessBody {
  readonly status: string;
  readonly checks: readonly Check[];
  readonly error: { readonly code: string };
}

const of = (checks: readonly Check[], id: string) => checks.filter((each) => each.id === id);

async function readiness(query: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/readyz${query}`, { headers });
  return { status: response.status, body: (await response.json()) as ReadinessBody };
}

test("the executable looks at the folder of a running server, and at the server", async () => {
  const { exitCode, checks } = await doctor("--server", server.url, "--token", token);
  expect(checks.filter(({ status }) => status === "error")).toEqual([]);
  expect(exitCode).toBe(0);
  expect(of(checks, "server")[0]?.message).toContain(`pid ${server.pid}`);
  expect(of(checks, "port")[0]?.message).toBe(`The server listens on port ${server.port}.`);
  expect(of(checks, "server_reach")[0]?.status).toBe("ok");
  expect(of(checks, "server.accepting")).toEqual([
    { id: "server.accepting", status: "ok", message: "New tasks are taken.", fix: null },
  ]);
  const wrong = await doctor("--server", server.url, "--token", `mt-svc-${"x".repeat(32)}`);
  expect([wrong.exitCode, of(wrong.checks, "server_token")[0]?.status]).toEqual([1, "error"]);
  const nobody = await doctor("--server", "http://127.0.0.1:1");
  expect([nobody.exitCode, of(nobody.checks, "server_reach")[0]?.status]).toEqual([1, "error"]);
});

test("a task that nobody works on and callbacks that were not sent are found beside the server", async () => {
  const env = cleanEnvironment({ SVC_SERVER: server.url, SVC_API_KEY: server.firstKey() });
  const nobody = `http://127.0.0.1:${freePort()}/`;
  await svcHere(["callbacks", "trigger", "completed", "--url", nobody], { env });
  const hanging = await here(
    "task",
    "submit",
    "-m",
    "sandbox-image",
    "-p",
    "x",
    "-i",
    'sandbox:={"outcome":"hang"}',
  );
  const failed = async () =>
    (await here("callbacks", "list")).callbacks.some(({ state }: { state: string }) => state === "failed");
  while (!(await failed())) await Bun.sleep(20);
  expect(of((await doctor()).checks, "callbacks_failed")[0]).toMatchObject({ status: "warn" });

  await server.stop();
  const past = Date.now() - HOUR_MS;
  using db = new Database(join(server.dataDir, "svc.db"));
  db.run("update callback set state = 'pending', pool = 'waiting', due_at = ?", [past]);
  db.run("update task set pool = 'under_way', stage = 'running', due_at = ? where id = ?", [
    past,
    hanging.task_id,
  ]);
  db.run("pragma wal_checkpoint(truncate)");
  const stopped = (await doctor()).checks;
  expect(of(stopped, "callbacks_overdue")[0]).toMatchObject({
    status: "warn",
    fix: `svc serve --data-dir ${server.dataDir}`,
  });
  expect(of(stopped, "leases")[0]?.message).toBe("1 live task for the next server to take up.");
  const lock = lockDirectory(server.dataDir);
  expect(of((await doctor()).checks, "leases")[0]).toMatchObject({
    status: "warn",
    message: "1 task under way that nobody has worked on for ten minutes.",
  });
  lock?.release();
  db.close();
  server = await startServer({ folder: server.folder, dataDir: server.dataDir, port: server.port });
  // The start took both up: what the first fix says is done.
  const served = (await doctor()).checks;
  expect([...of(served, "callbacks_overdue"), ...of(served, "leases")].map(({ status }) => status)).toEqual([
    "ok",
    "ok",
  ]);
});

test("/readyz?verbose says how checks went, and what was found to a management token alone", async () => {
  expect<object>(await readiness("")).toEqual({ status: 200, body: { status: "ready" } });
  const told = await readiness("?verbose");
  expect(told.body.status).toBe("ready");
  const ids = [
    "accepting",
    "disk_space",
    "file_system",
    "wal",
    "descriptors",
    "event_loop",
    "clock",
    "backups",
    "providers",
  ];
  expect(told.body.checks.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  expect(told.body.checks.every((each: Check) => Object.keys(each).join() === "id,status")).toBe(true);
  const full = await readiness("?verbose", { Authorization: `Bearer ${token}` });
  expect(full.body.checks[0]).toEqual({ id: "accepting", status: "ok", message: "New tasks are taken." });
  const refused = await readiness("?verbose", { Authorization: `Bearer ${server.firstKey()}` });
  expect([refused.status, refused.body.error.code]).toEqual([401, "invalid_api_key"]);
});
