import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { EXIT } from "../../cli/exit-codes.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  spawnServer,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { keyIn, svc, svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";
import { openEvents } from "./support/event-stream.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

/** What is waited for never comes by itself. */
const HANGING = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { outcome: "hang" } };

const IMAGE = { ...HANGING, sandbox: { delay_ms: 0 } };

/** Folders that other users can reach, which the usual ones are not. */
const shared: string[] = [];

afterAll(async () => {
  await stopServers();
  for (const folder of shared.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function sharedFolder(): string {
  const folder = mkdtempSync("/tmp/svc-shared-");
  shared.push(folder);
  chmodSync(folder, 0o755);
  return folder;
}

const local = (server: Server, ...args: string[]) => svcJson([...args, "--data-dir", server.dataDir]);

/** A server for many tenants, each of whom has a name of its own. */
let crowded: Promise<Server> | undefined;
const crowdedServer = () => (crowded ??= startServer({ args: ["--sandbox-concurrency", "100"] }));

/** How many tasks of an account have not ended, and how many there are. */
function tasksOf(server: Server, account: string): { live: number; all: number } {
  const [row] = readDatabase<{ live: number; all: number }>(
    server.dataDir,
    `SELECT count(*) FILTER (WHERE stage <> 'terminal') AS live, count(*) AS "all"
     FROM task JOIN account ON account.id = account_id WHERE account.name = '${account}'`,
  );
  return row ?? { live: 0, all: 0 };
}

/** A key of an account of its own. */
async function newKey(server: Server, name: string): Promise<Api> {
  await local(server, "accounts", "create", name, "--mode", "unlimited");
  return createApi(
    server.url,
    keyIn(await local(server, "keys", "create", "--name", name, "--account", name)),
  );
}

interface Ended {
  readonly status: number | undefined;
  readonly code: string | undefined;
}

/** Each way of waiting for an answer. Resolves to how it ended. */
const WAITS: Record<string, (api: Api, id: string) => Promise<Ended>> = {
  "a status with ?wait=": async (api, id) => ended(await api.send(`/v1/images/status/${id}?wait=60`)),
  "a synchronous call": async (api) =>
    ended(await api.send("/compat/v1/images/generations", { body: HANGING })),
  "a streamed synchronous call": (api) =>
    streamed(api, "/compat/v1/images/generations", JSON.stringify({ ...HANGING, stream: true })),
  "the events of a task": (api, id) => followed(api, `/v1/tasks/${id}/events`),
  "the events of the account": (api) => followed(api, "/v1/events"),
  "the callbacks of the key": (api) => followed(api, "/v1/callbacks/events"),
};

const ended = ({ status, body }: Awaited<ReturnType<Api["send"]>>): Ended => ({
  status,
  code: body.error?.code ?? body.data?.error_code,
});

async function followed(api: Api, path: string): Promise<Ended> {
  const events = await openEvents(api, path);
  for (;;) {
    const { name, data } = await events.next();
    if (name === "error") return { status: undefined, code: JSON.parse(data).error?.code };
  }
}

async function streamed(api: Api, path: string, body: string): Promise<Ended> {
  const headers = { Authorization: `Bearer ${api.key}`, "Content-Type": "application/json" };
  const response = await fetch(api.url + path, { method: "POST", headers, body, keepalive: false });
  const text = await response.text();
  const error = /^event: error\ndata: (.*)$/m.exec(text)?.[1];
  return { status: undefined, code: error === undefined ? undefined : JSON.parse(error).error?.code };
}

/** Each way a key stops being allowed, given its name, which is also its account's. */
const ENDS: Record<string, readonly string[] | ((server: Server, name: string) => Promise<unknown>)> = {
  "is revoked": ["keys", "revoke", "NAME", "--yes"],
  "gets another secret": ["keys", "rotate", "NAME"],
  expires: (server, name) => local(server, "keys", "update", name, "--expires", secondsFromNow(3)),
  "belongs to a suspended account": ["accounts", "suspend", "NAME", "--yes"],
  "may no longer be used from here": ["keys", "update", "NAME", "--allow-ip", "203.0.113.1"],
};

/** A time as the command line takes it. */
function secondsFromNow(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

describe("a caller that waits when its key", () => {
  test.concurrent.each(Object.entries(ENDS))("%s is told so soon, however it waits", async (how, end) => {
    const server = await crowdedServer();
    const name = `tenant-${how.replaceAll(" ", "-")}`;
    const api = await newKey(server, name);
    const id = await api.accept(HANGING);
    await api.underWay(id);
    const waits = Object.entries(WAITS).map(async ([name, wait]) => [name, await wait(api, id)] as const);
    await untilAccepted(api, 3);
    await (Array.isArray(end)
      ? local(server, ...end.map((word) => (word === "NAME" ? name : word)))
      : (end as Exclude<typeof end, readonly string[]>)(server, name));
    // A wait that nobody ends lasts a minute, and ends otherwise.
    for (const [wait, { status, code }] of await Promise.all(waits)) {
      expect({ wait, code }).toEqual({ wait, code: "invalid_api_key" });
      if (status !== undefined) expect({ wait, status }).toEqual({ wait, status: 401 });
    }
    // The task goes on, for whoever may ask.
    expect(tasksOf(server, name).live).toBe(3);
  });

  test.concurrent("loses the feature or the model it waits for is told so, with 403", async () => {
    const server = await crowdedServer();
    for (const [flag, value] of [
      ["--features", "images"],
      ["--models", "sandbox-video*"],
    ] as const) {
      const api = await newKey(server, `tenant${flag}`);
      const call = WAITS["a synchronous call"]?.(api, "");
      const stream = WAITS["a streamed synchronous call"]?.(api, "");
      await untilAccepted(api, 2);
      await local(server, "keys", "update", `tenant${flag}`, flag, value);
      expect(await call).toEqual({ status: 403, code: "permission_denied" });
      expect(await stream).toEqual({ status: undefined, code: "permission_denied" });
    }
  });
});

/** Sends all of a request but the end of its body, does something, and sends the rest. @returns the answer */
async function sendSlowly(server: Server, head: string, body: string, meanwhile: () => Promise<unknown>) {
  const ended = Promise.withResolvers<string>();
  let answer = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port,
    socket: {
      data(_, chunk) {
        answer += chunk.toString("latin1");
      },
      close: () => ended.resolve(answer),
    },
  });
  const fields = `Host: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.write(`${head}\r\n${fields}\r\n\r\n${body.slice(0, -1)}`);
  await meanwhile();
  // Longer than the server takes to notice what a command beside it has changed.
  await Bun.sleep(1_000);
  socket.write(body.slice(-1));
  return ended.promise;
}

describe("a request that arrives slowly", () => {
  test.concurrent("makes no task when its key is revoked meanwhile", async () => {
    const server = await crowdedServer();
    const api = await newKey(server, "slow");
    const head = `POST /v1/images/generations HTTP/1.1\r\nAuthorization: Bearer ${api.key}`;
    const answer = await sendSlowly(server, head, JSON.stringify(IMAGE), () =>
      local(server, "keys", "revoke", "slow", "--yes"),
    );
    expect(answer).toStartWith("HTTP/1.1 401 ");
    expect(tasksOf(server, "slow").all).toBe(0);
  });

  test.concurrent("makes no key when its management token is revoked meanwhile", async () => {
    const server = await crowdedServer();
    const made = (await local(server, "tokens", "create", "--name", "boss")) as { token: string };
    const head = `POST /admin/v1/keys HTTP/1.1\r\nAuthorization: Bearer ${made.token}`;
    const answer = await sendSlowly(server, head, JSON.stringify({ name: "late" }), () =>
      local(server, "tokens", "revoke", "boss", "--yes"),
    );
    expect(answer).toStartWith("HTTP/1.1 401 ");
    expect(JSON.stringify(await local(server, "keys", "list"))).not.toContain("late");
  });
});

async function untilAccepted(api: Api, count: number): Promise<void> {
  while (((await api.send("/v1/tasks")).data.tasks ?? []).length < count) await Bun.sleep(5);
}

const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
/** Where this is false, tests that need a second user say that they are skipped. */
const hasOtherUser =
  process.getuid?.() === 0 && Bun.spawnSync([...AS_NOBODY, SVC, "version"], { env: {} }).exitCode === 0;

/** Everything in a folder, as `path mode`, the folder first. */
function modesIn(folder: string): string[] {
  const paths = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()];
  return paths.map((path) => {
    const stats = lstatSync(join(folder, path));
    return `${stats.isDirectory() ? "folder" : "file"} ${(stats.mode & 0o777).toString(8)} ${path}`;
  });
}

/** What in a folder others may read or write. */
const openIn = (folder: string) =>
  modesIn(folder).filter((line) => !/^(?:folder 700|file 600) /.test(line) && !line.endsWith(" svc.yaml"));

/** Runs the executable with another umask than ours. */
async function withUmask<T>(mask: number, run: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  try {
    return await run();
  } finally {
    process.umask(before);
  }
}

function openAll(folder: string): void {
  for (const path of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })]) {
    const full = join(folder, path);
    chmodSync(full, lstatSync(full).isDirectory() ? 0o755 : 0o644);
  }
}

describe("a data folder", () => {
  test("is for its owner alone, whatever the umask and whatever stood there before", async () => {
    await withUmask(0, async () => {
      const folder = emptyFolder("open");
      const dataDir = join(folder, "svc-data");
      mkdirSync(dataDir, { mode: 0o777 });
      writeFileSync(join(dataDir, "svc.yaml"), "log: { level: info }\n");
      const server = await startServer({ folder });
      await createApi(server.url, server.firstKey()).make(IMAGE);
      expect(openIn(dataDir)).toEqual([]);
    });
  });

  test("that others could read is closed at the start, all of it, and the log says what was open", async () => {
    const first = await startServer();
    await createApi(first.url, first.firstKey()).make(IMAGE);
    first.signal("SIGKILL");
    await first.exited;
    openAll(first.dataDir);
    // The operator's own; nobody asked to change it.
    mkdirSync(join(first.dataDir, "mine"), { mode: 0o755 });
    const second = await startServer({ folder: first.folder });
    expect(openIn(second.dataDir).filter((line) => !line.endsWith(" mine"))).toEqual([]);
    const line = JSON.parse(await second.says(/was open to other users/));
    expect(line).toMatchObject({ level: "warn", data_dir: second.dataDir });
    expect(line.closed).toEqual(
      expect.arrayContaining([".", "svc.db", "svc.db-wal", "server.lock", "assets"]),
    );
    await second.stop();
    const third = await startServer({ folder: first.folder });
    expect(third.stderr()).not.toContain("was open to other users");
  });

  test("made by migrate is for its owner alone", async () => {
    await withUmask(0, async () => {
      const dataDir = join(emptyFolder("migrated"), "svc-data");
      expect((await svc(["migrate", "up", "--data-dir", dataDir])).exitCode).toBe(0);
      expect(openIn(dataDir)).toEqual([]);
    });
  });

  test("is served although somebody who could read its lock file once holds on to it", async () => {
    const first = await startServer();
    await first.stop();
    openAll(first.dataDir);
    const lock = join(first.dataDir, "server.lock");
    using intruder = new Database(lock, { readonly: true });
    intruder.run("begin");
    intruder.query("select * from sqlite_schema").all();
    const second = await startServer({ folder: first.folder });
    // The lock still keeps a second server out.
    const third = spawnServer({ folder: first.folder });
    expect(await third.exited).toBe(1);
    expect(third.stderr()).toContain("Another svc works on");
    expect(second.hasExited()).toBe(false);
  });

  test.skipIf(!hasOtherUser)(
    "of another user that cannot be closed is refused, with what to do",
    async () => {
      const dataDir = join(sharedFolder(), "svc-data");
      mkdirSync(dataDir);
      chmodSync(dataDir, 0o777);
      const { exitCode, stderr } = await asNobody(["serve", "--port", "0", "--data-dir", dataDir]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        `${dataDir} cannot be closed to other users: it belongs to another user (uid 0`,
      );
      expect(readdirSync(dataDir)).toEqual([]);
    },
  );

  test.skipIf(!hasOtherUser).each(["keys list", "migrate status", "config reload"])(
    "of another user is not taken for an empty one by svc %s",
    async (command) => {
      const dataDir = join(sharedFolder(), "svc-data");
      mkdirSync(dataDir, { mode: 0o700 });
      const { exitCode, stderr } = await asNobody([...command.split(" "), "--data-dir", dataDir]);
      expect(exitCode).toBe(EXIT.config);
      expect(stderr).toContain(`${dataDir}: this user may not look into the folder; run the command as`);
    },
  );

  test.skipIf(!hasOtherUser)("of another user has nothing of root's after root's commands", async () => {
    const dataDir = join(sharedFolder(), "svc-data");
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, NOBODY, NOBODY);
    expect((await asNobody(["migrate", "up", "--data-dir", dataDir])).exitCode).toBe(0);
    const stdin = "fal-0123456789abcdef";
    const added = await svc(["providers", "add", "fal", "--key-stdin", "--data-dir", dataDir], { stdin });
    expect(added.exitCode).toBe(0);
    const owners = modesIn(dataDir).map((line) => {
      const path = line.split(" ").slice(2).join(" ");
      return [path, lstatSync(join(dataDir, path)).uid];
    });
    expect(Object.fromEntries(owners)).toMatchObject({
      "secret.key": NOBODY,
      "provider-keys": NOBODY,
      "provider-keys/fal.json": NOBODY,
    });
    expect(owners.filter(([, uid]) => uid !== NOBODY)).toEqual([]);
  });
});

/** Runs a command that must end by itself as another user. */
async function asNobody(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...AS_NOBODY, SVC, ...args], { env, stdout: "ignore", stderr: "pipe", cwd: "/" });
  const timer = setTimeout(() => child.kill(), 20_000);
  const [stderr, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  clearTimeout(timer);
  return { stderr, exitCode };
}

/** A folder for native libraries in each state that lets others put their own there, and what the refusal says. */
const UNSAFE_NATIVE: Record<string, (folder: string) => { readonly chosen: string; readonly says: string }> =
  {
    "its group may write to": (folder) => {
      chmodSync(folder, 0o770);
      return { chosen: folder, says: `${folder} is writable by its group` };
    },
    "everybody may write to": (folder) => {
      chmodSync(folder, 0o777);
      return { chosen: folder, says: `${folder} is writable by everyone` };
    },
    "lies below one that everybody may write to": (folder) => {
      const chosen = join(folder, "private", "native");
      mkdirSync(chosen, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o777);
      return { chosen, says: `${folder} is writable by everyone` };
    },
    "is a link from where everybody may write": (folder) => {
      const chosen = join(folder, "open", "native");
      mkdirSync(join(folder, "open"));
      symlinkSync(emptyFolder("native"), chosen);
      chmodSync(join(folder, "open"), 0o777);
      return { chosen, says: `${join(folder, "open")} is writable by everyone` };
    },
    "does not exist yet, below one that everybody may write to": (folder) => {
      chmodSync(folder, 0o777);
      return { chosen: join(folder, "native"), says: `${folder} is writable by everyone` };
    },
  };

describe("native libraries in a folder that", () => {
  test.each(Object.entries(UNSAFE_NATIVE))("%s end the start", async (_, prepare) => {
    const { chosen, says } = prepare(sharedFolder());
    const server = spawnServer({ env: { SVC_NATIVE_DIR: chosen } });
    expect(await server.exited).toBe(1);
    expect(server.stderr()).toContain(`SVC_NATIVE_DIR cannot be used: ${says}`);
  });

  test.skipIf(!hasOtherUser)("belongs to another user end the start", async () => {
    const folder = sharedFolder();
    chownSync(folder, NOBODY, NOBODY);
    const server = spawnServer({ env: { SVC_NATIVE_DIR: folder } });
    expect(await server.exited).toBe(1);
    expect(server.stderr()).toContain(`${folder} is owned by another user (uid ${NOBODY})`);
  });

  test("is sticky, as /tmp is, are loaded from one that is private below it", async () => {
    const folder = sharedFolder();
    chmodSync(folder, 0o1777);
    const server = await startServer({ env: { SVC_NATIVE_DIR: join(folder, "native") } });
    // Smaller pictures are looked at without them.
    await createApi(server.url, server.firstKey()).make({ ...IMAGE, size: "256x256" });
    expect(readdirSync(join(folder, "native"))).toHaveLength(1);
  });
});

describe("a variable that lets the environment run code inside the executable, or see its keys,", () => {
  const harmless = {
    BUN_OPTIONS: "--smol",
    BUN_BE_BUN: "0",
    BUN_CONFIG_VERBOSE_FETCH: "curl",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
  };
  const inspecting = { BUN_INSPECT_CONNECT_TO: "unix:///nowhere", BUN_INSPECT_PRELOAD: "/nowhere.js" };

  test.each(Object.entries({ ...harmless, ...inspecting }))("ends the start: %s", async (name, value) => {
    const refused = spawnServer({ env: { [name]: value } });
    expect(await refused.exited).toBe(EXIT.config);
    expect(refused.stderr()).toContain(`SVC_ALLOW_ENV=${name}`);
  });

  test("does not where it is allowed by name", async () => {
    await startServer({ env: { ...harmless, SVC_ALLOW_ENV: Object.keys(harmless).join(",") } });
  });
});

const WHSEC = `whsec_${"Qm9".repeat(16)}`;
const KEY_ONE = Buffer.alloc(32, 1).toString("base64");
const KEY_TWO = "a-passphrase-of-some-length";

/** Whether any file of a folder holds a text. */
function holds(folder: string, text: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => {
    const path = join(folder, name);
    return lstatSync(path).isFile() && readFileSync(path).includes(text);
  });
}

/** Makes a key that signs with `WHSEC`, by a command beside the server or without one. */
async function signingKey(dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const args = [
    "keys",
    "create",
    "--name",
    "signer",
    "--callback-secret",
    "-",
    "--data-dir",
    dataDir,
    "--json",
  ];
  const child = Bun.spawn([SVC, ...args], {
    env: { ...cleanEnvironment(), ...env },
    stdin: new Blob([WHSEC]),
    stdout: "pipe",
    stderr: "inherit",
  });
  return keyIn(await child.stdout.text());
}

/** The callback of a new task of the key, if one comes within the time that a few would take. */
async function callbackOf(server: Server, key: string): Promise<Record<string, string> | undefined> {
  const received = Promise.withResolvers<Record<string, string> | undefined>();
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      new Webhook(WHSEC).verify(body, Object.fromEntries(request.headers));
      received.resolve(Object.fromEntries(request.headers));
      return new Response(null, { status: 204 });
    },
    error(error) {
      received.reject(error);
      return new Response(null, { status: 400 });
    },
  });
  try {
    const api = createApi(server.url, key);
    const { task_id: id } = await api.make({ ...IMAGE, callback_url: `http://127.0.0.1:${receiver.port}/` });
    const line = JSON.parse(await server.says(new RegExp(`"task":"${id}".*"msg":"callback"`)));
    return line.outcome === "delivered" ? await received.promise : undefined;
  } finally {
    await receiver.stop(true);
  }
}

describe("the secrets that sign callbacks", () => {
  const signs = expect.objectContaining({ "webhook-signature": expect.stringMatching(/^v1,/) });

  test("are in no file in the clear, whoever set them, and sign all the same", async () => {
    const server = await startServer({ args: [...ALLOW_LOOPBACK] });
    const key = await signingKey(server.dataDir);
    expect(await callbackOf(server, key)).toEqual(signs);
    expect(holds(server.dataDir, WHSEC)).toEqual([]);
    expect((await svc(["keys", "list", "--data-dir", server.dataDir, "--json"])).stdout).not.toContain(
      "sealed.",
    );
    expect(lstatSync(join(server.dataDir, "secret.key")).mode & 0o777).toBe(0o600);
    await server.stop();
    expect(holds(server.dataDir, WHSEC)).toEqual([]);
  });

  test("that an earlier version stored in the clear are sealed at the start, without a trace", async () => {
    const first = await startServer();
    const key = await signingKey(first.dataDir);
    await first.stop();
    inTheClear(first.dataDir);
    expect(holds(first.dataDir, WHSEC)).toContain("svc.db");
    const second = await startServer({ folder: first.folder, args: [...ALLOW_LOOPBACK] });
    expect(holds(second.dataDir, WHSEC)).toEqual([]);
    await second.says(/callback secrets were sealed/);
    expect(await callbackOf(second, key)).toEqual(signs);
  });

  test("follow SVC_SECRET_KEY, from the file to it and from one to the next", async () => {
    const first = await startServer();
    const key = await signingKey(first.dataDir);
    await first.stop();
    const [folder, args] = [first.folder, [...ALLOW_LOOPBACK]];
    const last = { SVC_SECRET_KEY: KEY_TWO };
    for (const env of [
      { SVC_SECRET_KEY: KEY_ONE },
      { SVC_SECRET_KEY: KEY_TWO, SVC_SECRET_KEY_PREVIOUS: KEY_ONE },
      last,
    ]) {
      const server = await startServer({ folder, args, env });
      rmSync(join(server.dataDir, "secret.key"), { force: true });
      if (env !== last) await server.says(/callback secrets were sealed/);
      expect(await callbackOf(server, key)).toEqual(signs);
      await server.stop();
    }
  });

  test("that no key opens are told at the start, and their callbacks are not sent unsigned", async () => {
    const first = await startServer();
    const key = await signingKey(first.dataDir);
    await first.stop();
    rmSync(join(first.dataDir, "secret.key"));
    const second = await startServer({ folder: first.folder, args: [...ALLOW_LOOPBACK] });
    const line = JSON.parse(await second.says(/sealed with another key/));
    expect(line).toMatchObject({ level: "error", keys: ["signer"], count: 1 });
    expect(await callbackOf(second, key)).toBeUndefined();
    // Another secret is a way on.
    await local(second, "keys", "update", "signer", "--callback-secret", "new");
    expect(existsSync(join(second.dataDir, "secret.key"))).toBe(true);
  });

  test.each([
    ["SVC_SECRET_KEY", "too-short"],
    ["SVC_SECRET_KEY_PREVIOUS", "with a space in a long passphrase"],
  ])("are not sealed with a %s that is none, which no message repeats", async (name, value) => {
    const server = spawnServer({ env: { [name]: value } });
    expect(await server.exited).toBe(EXIT.config);
    expect(server.stderr()).toContain(`${name}: must be 32 bytes in base64, or a passphrase`);
    expect(server.stderr()).not.toContain(value);
  });
});

/** Puts the secret into the database as an earlier version did, with more copies in pages that are no longer in use. */
function inTheClear(dataDir: string): void {
  using db = new Database(join(dataDir, "svc.db"));
  db.run("pragma busy_timeout = 10000");
  db.run("create table filler (text text)");
  for (let i = 0; i < 100; i++) db.run("insert into filler values (?)", [WHSEC.repeat(20)]);
  db.run("update api_key set callback_secret = ? where callback_secret is not null", [WHSEC]);
  db.run("drop table filler");
  db.run("pragma wal_checkpoint(truncate)");
}
