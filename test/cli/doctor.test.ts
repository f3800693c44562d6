import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runProgram } from "../../cli/program.ts";
import { clockCheck, descriptorCheck, skewCheck } from "../../src/app/doctor/environment.ts";
import type { Finding } from "../../src/app/doctor/finding.ts";
import { spaceChecks } from "../../src/app/doctor/folder.ts";
import { lockDirectory } from "../../src/runtime/directory-lock.ts";
import { fileSystemOf } from "../../src/runtime/mounts.ts";
import { openStore } from "../../src/store/open.ts";
import { openDatabase } from "../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.ts";
import { freePort } from "../helpers/free-port.ts";
import { admit, lane, micros } from "../helpers/store.ts";
import { emptyFolder, fakeContext, spawnSvc, svc } from "./support.ts";

setDefaultTimeout(60_000);

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

/** How doctor is run. */
interface Run {
  readonly cwd: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Shown extends Omit<Finding, "fix"> {
  readonly fix: string | null;
}

async function doctor({ cwd, args = [], env = {} }: Run) {
  const { exitCode, stdout } = await svc(["doctor", ...args, "--json"], { cwd, env });
  const { checks } = JSON.parse(stdout) as { checks: Shown[] };
  return { exitCode, checks };
}

/** The checks of an id that are not ok, and whether any of that id is. */
function bad(checks: readonly Shown[], id: string): Shown[] {
  return checks.filter((each) => each.id === id && each.status !== "ok");
}

/** A folder with a database, and a settings file where one is given. */
async function folder(yaml?: string): Promise<string> {
  const cwd = emptyFolder();
  const dataDir = join(cwd, "svc-data");
  mkdirSync(dataDir, { mode: 0o700 });
  if (yaml !== undefined) writeFileSync(join(dataDir, "svc.yaml"), yaml, { mode: 0o600 });
  expect(
    (await svc(["migrate", "up", "--config", "/dev/null", "--data-dir", dataDir], { cwd })).exitCode,
  ).toBe(0);
  return cwd;
}

function file(cwd: string, name: string, text: string, mode = 0o600): string {
  const path = join(cwd, "svc-data", name);
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** Changes the database of a folder. */
function change(cwd: string, ...statements: readonly string[]): void {
  using db = new Database(join(cwd, "svc-data/svc.db"));
  for (const statement of statements) db.run(statement);
}

async function made(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await svc([...args, "--data-dir", "svc-data", "--json"], { cwd });
  if (exitCode !== 0) throw new Error(`svc ${args.join(" ")}: ${stderr}`);
  return JSON.parse(stdout);
}

/** A server that answers everything alike. */
function answering(answer: (url: URL) => Response): { origin: string; port: number } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => answer(new URL(request.url)),
  });
  stops.push(() => server.stop(true));
  return { origin: `http://127.0.0.1:${server.port}`, port: Number(server.port) };
}

/** A broken set-up: how it is made, and how what the fix says is done. */
interface Broken {
  readonly id: string;
  readonly status?: "warn" | "error";
  readonly set: () => Promise<Run> | Run;
  /** What the fix begins with or has in it. */
  readonly fix: string | RegExp;
  /** Does what the fix says, and tells how doctor is run then. A command is run as it is unless given. */
  readonly mend?: (run: Run, fix: string) => Promise<Run> | Run;
}

/** Runs a fix in a shell. A command `svc` gets its words and its input there and runs in this process after it, which is cheaper. */
async function runFix({ cwd, env = {} }: Run, fix: string): Promise<void> {
  const bin = emptyFolder();
  const [noted, piped] = [join(bin, "words"), join(bin, "input")];
  const program = `printf '%s\\0' "$@" > "${noted}" && cat > "${piped}"`;
  writeFileSync(join(bin, "svc"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  const child = Bun.spawn(["sh", "-c", fix], {
    cwd,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: emptyFolder(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, said] = await Promise.all([child.exited, child.stderr.text()]);
  if (code !== 0) throw new Error(`${fix}: ${said}`);
  if (!existsSync(noted)) return;
  const words = readFileSync(noted, "utf8").split("\0").slice(0, -1);
  const { exitCode, stderr } = await svc(words, { cwd, env, stdin: readFileSync(piped, "utf8") });
  if (exitCode !== 0) throw new Error(`${fix}: ${stderr}`);
}

const settings = (yaml: string) => async () => ({ cwd: await folder(yaml) });
/** Writes another settings file. */
const write =
  (yaml: string) =>
  ({ cwd }: Run): Run => {
    file(cwd, "svc.yaml", yaml);
    return { cwd };
  };
/** Runs doctor with the flags that a fix names. */
const withFlags = ({ cwd }: Run, fix: string): Run => ({ cwd, args: fix.split(" ") });
const without =
  (name: string) =>
  ({ cwd, env = {} }: Run): Run => ({
    cwd,
    env: Object.fromEntries(Object.entries(env).filter(([each]) => each !== name)),
  });

const BROKEN: Readonly<Record<string, Broken>> = {
  "a setting with a typing error": {
    id: "settings",
    set: settings("log:\n  levle: debug\n"),
    fix: /^Line 2 of .*svc\.yaml: write log\.level\.$/,
    mend: write("log:\n  level: debug\n"),
  },
  "a settings file that is no YAML": {
    id: "settings",
    set: settings("log: {level: debug\n"),
    fix: /^Line 2 of .*svc\.yaml/,
    mend: write("log: {level: debug}\n"),
  },
  "a value that a setting cannot have": {
    id: "settings",
    set: settings("port: 70000\n"),
    fix: /^Line 1 of/,
    mend: write("port: 7000\n"),
  },
  "a variable that is no setting": {
    id: "variables",
    status: "warn",
    set: async () => ({ cwd: await folder(), env: { SVC_PROT: "9" } }),
    fix: "unset SVC_PROT (and set SVC_PORT)",
    mend: without("SVC_PROT"),
  },
  "a variable with an unusable value": {
    id: "variables",
    set: async () => ({ cwd: await folder(), env: { SVC_PORT: "x" } }),
    fix: "unset SVC_PORT",
    mend: without("SVC_PORT"),
  },
  "a variable that changes the executable": {
    id: "runtime_variables",
    set: async () => ({ cwd: await folder(), env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } }),
    fix: "unset NODE_TLS_REJECT_UNAUTHORIZED",
    mend: without("NODE_TLS_REJECT_UNAUTHORIZED"),
  },
  "a file in the place of the data folder": {
    id: "data_dir",
    set: () => {
      const cwd = emptyFolder();
      writeFileSync(join(cwd, "svc-data"), "");
      return { cwd };
    },
    fix: /^mv /,
  },
  "a database that may only be read": {
    id: "data_dir_owner",
    set: async () => {
      const cwd = await folder();
      chmodSync(join(cwd, "svc-data/svc.db"), 0o400);
      return { cwd };
    },
    fix: /^chmod 600 .*svc\.db'?$/,
  },
  // Only root can bring it about.
  ...(process.getuid?.() === 0 && {
    "a secret that another user made": {
      id: "data_dir_owner",
      set: async () => {
        const cwd = await folder();
        chownSync(file(cwd, "secret.key", "x"), 65_534, 65_534);
        return { cwd };
      },
      fix: /^sudo chown -R 0 .*secret\.key'?$/,
      mend: async ({ cwd }: Run) => {
        chownSync(join(cwd, "svc-data/secret.key"), 0, 0);
        return { cwd };
      },
    },
  }),
  "a data folder that others can look into": {
    id: "data_dir_rights",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      chmodSync(join(cwd, "svc-data"), 0o755);
      return { cwd };
    },
    fix: /^chmod 700 /,
  },
  "secrets that others can read": {
    id: "secret_files",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      file(cwd, "secret.key", "x", 0o644);
      file(cwd, "provider-keys/bfl.json", "{}", 0o640);
      return { cwd };
    },
    fix: /^chmod 600 .*secret\.key .*bfl\.json$/,
  },
  "a file with a provider's key that others can read": {
    id: "secret_files",
    status: "warn",
    set: async () => {
      const base = `http://127.0.0.1:${answering(() => new Response("{}")).port}`;
      const cwd = await folder(
        `providers: {openai: {base_url: '${base}', accounts: [{name: a, key_file: a.key}]}}\n`,
      );
      file(cwd, "a.key", "sk-0123456789abcdef", 0o644);
      return { cwd };
    },
    fix: /^chmod 600 .*a\.key$/,
  },
  "a first key that nobody took": {
    id: "first_key",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      file(cwd, "bootstrap.json", "{}");
      return { cwd };
    },
    fix: /^rm .*bootstrap\.json$/,
  },
  "a file that is no database": {
    id: "database",
    set: () => {
      const cwd = emptyFolder();
      file(cwd, "svc.db", "nothing of the kind ".repeat(300));
      return { cwd };
    },
    fix: /^Stop the server, and put a copy of .*svc\.db from a backup in its place\.$/,
    mend: async () => ({ cwd: await folder() }),
  },
  "a database with damaged pages": {
    id: "database",
    set: async () => {
      const cwd = await folder();
      const path = join(cwd, "svc-data/svc.db");
      const bytes = readFileSync(path);
      bytes.fill(0xff, 8_192, 24_576);
      writeFileSync(path, bytes);
      return { cwd };
    },
    fix: /from a backup/,
    mend: async () => ({ cwd: await folder() }),
  },
  "a database without the last migration": {
    id: "migrations",
    status: "warn",
    set: () => {
      const cwd = emptyFolder();
      mkdirSync(join(cwd, "svc-data"), { mode: 0o700 });
      const db = openDatabase(join(cwd, "svc-data/svc.db"));
      applyMigrations(db, MIGRATIONS.slice(0, -1));
      db.stop();
      return { cwd };
    },
    fix: /^svc migrate up --data-dir /,
  },
  "a database of a later version": {
    id: "schema",
    set: async () => {
      const cwd = await folder();
      change(cwd, "insert into schema_migration values (9999, '9999_later', 'x', 0)");
      return { cwd };
    },
    fix: "Start the version of svc that was used last.",
    mend: ({ cwd }) => {
      change(cwd, "delete from schema_migration where number = 9999");
      return { cwd };
    },
  },
  "a database of an edited migration": {
    id: "schema",
    set: async () => {
      const cwd = await folder();
      change(cwd, "update schema_migration set checksum = 'x' where number = 1");
      return { cwd };
    },
    fix: /^Start the version of svc that the database was made with/,
    mend: async () => ({ cwd: await folder() }),
  },
  "a long write-ahead log": {
    id: "wal",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      const db = new Database(join(cwd, "svc-data/svc.db"));
      db.run("pragma wal_autocheckpoint = 0");
      for (let i = 0; i < 17; i++)
        db.run("insert or replace into schema_migration values (0, 'x', hex(zeroblob(2097152)), 0)");
      db.run("delete from schema_migration where number = 0");
      stops.push(() => db.close());
      return { cwd };
    },
    fix: "Start the server: its start copies the log into the database.",
    mend: ({ cwd }) => {
      change(cwd, "pragma wal_checkpoint(truncate)");
      return { cwd };
    },
  },
  "a key that expires soon": {
    id: "keys_expiring",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      await made(cwd, "accounts", "create", "studio");
      await made(cwd, "keys", "create", "--name", "web", "--account", "studio", "--expires", "3d");
      return { cwd };
    },
    fix: /^svc keys update web --expires 90d --data-dir /,
  },
  "a callback secret that no key opens": {
    id: "secret_key",
    set: async () => {
      const cwd = await folder();
      await made(cwd, "accounts", "create", "studio");
      await made(cwd, "keys", "create", "--name", "web", "--account", "studio");
      await made(cwd, "keys", "update", "web", "--callback-secret", "new");
      rmSync(join(cwd, "svc-data/secret.key"));
      return { cwd };
    },
    fix: /^Give SVC_SECRET_KEY .* that key, or: svc keys update web --callback-secret new /,
    mend: async (run, fix) => {
      await runFix(run, fix.slice(fix.indexOf("svc keys update")));
      return run;
    },
  },
  "books that do not add up": {
    id: "books",
    set: async () => {
      const cwd = await folder();
      await made(cwd, "accounts", "create", "studio", "--credit", "5.00");
      change(cwd, "update account set balance_micros = balance_micros + 1");
      return { cwd };
    },
    fix: /^svc audit --data-dir /,
    mend: async (run, fix) => {
      await expect(runFix(run, fix)).rejects.toThrow("The books do not add up");
      change(run.cwd, "update account set balance_micros = balance_micros - 1");
      return run;
    },
  },
  "a database from the future": {
    id: "clock",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      change(cwd, "insert or replace into heartbeat values (1, 9000000000000)");
      return { cwd };
    },
    fix: "timedatectl set-ntp true",
    mend: ({ cwd }) => {
      change(cwd, "delete from heartbeat");
      return { cwd };
    },
  },
  "a model that cannot be read": {
    id: "own_models",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      file(cwd, "models/mine.yaml", "id: mine\nkind: picture\n");
      return { cwd };
    },
    fix: /^Change the line that is named/,
    mend: ({ cwd }) => {
      rmSync(join(cwd, "svc-data/models/mine.yaml"));
      return { cwd };
    },
  },
  "a provider's description that cannot be read": {
    id: "own_providers",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      file(cwd, "providers/mine.yaml", "provider: mine\nform: 1\n");
      return { cwd };
    },
    fix: /^svc providers check .*\/providers\/\*\.yaml$/,
    mend: async (run, fix) => {
      await expect(runFix(run, fix)).rejects.toThrow("error");
      rmSync(join(run.cwd, "svc-data/providers/mine.yaml"));
      return run;
    },
  },
  "an alias of no model": {
    id: "aliases",
    status: "warn",
    set: settings("aliases: {gpt-image-1: sandbox-imag}\n"),
    fix: "Change the line of svc.yaml that is named.",
    mend: write("aliases: {gpt-image-1: sandbox-image}\n"),
  },
  "a price for no model": {
    id: "pricing",
    set: settings("pricing:\n  sandbox-imag: {}\n"),
    fix: "Change the line of svc.yaml that is named.",
    mend: write(""),
  },
  "a pattern that is none": {
    id: "moderation",
    set: settings("moderation:\n  checks:\n    own: { patterns: ['('] }\n"),
    fix: "Change the line of svc.yaml that is named.",
    mend: write("moderation:\n  checks:\n    own: { patterns: ['x'] }\n"),
  },
  "callbacks to every private address": {
    id: "callback_guard",
    status: "warn",
    set: settings("egress: { allow: [0.0.0.0/0] }\n"),
    fix: /^egress\.allow: only the ranges/,
    mend: write("egress: { allow: [192.168.1.0/24] }\n"),
  },
  "an address of another machine": {
    id: "host",
    set: settings("host: 203.0.113.7\n"),
    fix: /^--host 127\.0\.0\.1 /,
    mend: ({ cwd }) => ({ cwd, args: ["--host", "127.0.0.1"] }),
  },
  "a port that is taken": {
    id: "port",
    set: async () => {
      const { port } = answering(() => new Response());
      return { cwd: await folder(), args: ["--port", String(port)] };
    },
    fix: /^--port \d+$/,
    mend: withFlags,
  },
  "every address without public_url": {
    id: "public_url",
    status: "warn",
    set: settings("host: 0.0.0.0\n"),
    fix: /^public_url: https:/,
    mend: ({ cwd }) => {
      const { origin } = answering(() => Response.json({ status: "ok" }));
      return write(`host: 0.0.0.0\npublic_url: ${origin}\n`)({ cwd });
    },
  },
  "a public_url that leads on to another origin": {
    id: "public_url",
    status: "warn",
    set: async () => {
      const there = answering(() => Response.json({ status: "ok" }));
      const here = answering(({ pathname }) => Response.redirect(there.origin + pathname, 301));
      return { cwd: await folder(`public_url: ${here.origin}\n`) };
    },
    fix: /^public_url: http:\/\/127\.0\.0\.1:\d+ /,
    mend: ({ cwd }, fix) => write(`${fix}\n`)({ cwd }),
  },
  "a public_url where something else is": {
    id: "public_url",
    set: async () => ({
      cwd: await folder(`public_url: ${answering(() => new Response("hello")).origin}\n`),
    }),
    fix: /^Have the proxy lead \/ to the server/,
    mend: ({ cwd }) =>
      write(`public_url: ${answering(() => Response.json({ status: "ok" })).origin}\n`)({ cwd }),
  },
  "a clock that differs from the public one": {
    id: "clock_skew",
    status: "warn",
    set: async () => {
      const date = new Date(Date.now() - 3_600_000).toUTCString();
      const { origin } = answering(() => Response.json({ status: "ok" }, { headers: { Date: date } }));
      return { cwd: await folder(`public_url: ${origin}\n`) };
    },
    fix: "timedatectl set-ntp true",
    mend: ({ cwd }) =>
      write(`public_url: ${answering(() => Response.json({ status: "ok" })).origin}\n`)({ cwd }),
  },
  "a public_url without encryption": {
    id: "tls",
    status: "warn",
    set: settings("public_url: http://media.invalid\n"),
    fix: "public_url: https://media.invalid   # with a TLS proxy in front",
    mend: ({ cwd }, fix) => write(`${fix}\n`)({ cwd }),
  },
  "waiting calls that are cut at the only port": {
    id: "long_requests",
    status: "warn",
    set: settings("public_url: http://media.invalid\n"),
    fix: /^long_port: 8788 /,
    mend: ({ cwd }, fix) => write(`public_url: http://media.invalid\n${fix}\n`)({ cwd }),
  },
  "no provider at all": {
    id: "providers",
    set: settings("sandbox: { enabled: false }\n"),
    fix: /^svc providers add PROVIDER --key-stdin --data-dir /,
    mend: async (run, fix) => {
      await runFix(run, `echo key-of-nobody | ${fix.replace("PROVIDER", "luma")}`);
      return run;
    },
  },
  "a key's variable that is not set": {
    id: "provider_keys",
    set: settings("providers: { openai: { accounts: [{ name: a, key_env: MAIN_KEY }] } }\n"),
    fix: "export MAIN_KEY=…",
    mend: ({ cwd }) => {
      const { origin } = answering(() => Response.json({ data: [] }));
      const yaml = `providers: { openai: { base_url: "${origin}", accounts: [{ name: a, key_env: MAIN_KEY }] } }\n`;
      return { ...write(yaml)({ cwd }), env: { MAIN_KEY: "sk-0123456789abcdef" } };
    },
  },
  "a key that its provider refuses": {
    id: "provider_keys",
    set: async () => {
      const refusal = { error: { message: "Incorrect API key provided." } };
      const { origin } = answering(() => Response.json(refusal, { status: 401 }));
      const env = { OPENAI_API_KEY: "sk-0123456789abcdef", OPENAI_BASE_URL: origin };
      return { cwd: await folder(), env };
    },
    fix: /^svc providers add openai --key-stdin --data-dir /,
    mend: ({ cwd, env }) => {
      const { origin } = answering(() => Response.json({ data: [] }));
      return { cwd, env: { ...env, OPENAI_BASE_URL: origin } };
    },
  },
  "a provider that cannot be reached": {
    id: "provider_reach",
    status: "warn",
    set: async () => {
      const env = { OPENAI_API_KEY: "sk-0123456789abcdef", OPENAI_BASE_URL: "http://127.0.0.1:1" };
      return { cwd: await folder(), env };
    },
    fix: /providers\.openai\.base_url\.$/,
    mend: without("OPENAI_API_KEY"),
  },
  ...Object.fromEntries(
    [503, 404].map((status) => [
      `a provider that answers ${status}, which says nothing of its key`,
      {
        id: "provider_reach",
        status: "warn" as const,
        set: async () => {
          const { origin } = answering(() => new Response("down", { status }));
          return {
            cwd: await folder(),
            env: { OPENAI_API_KEY: "sk-0123456789abcdef", OPENAI_BASE_URL: origin },
          };
        },
        fix: /^svc providers test openai --data-dir \S+, when it is well again; else look at providers\.openai\.base_url\.$/,
        mend: without("OPENAI_API_KEY"),
      },
    ]),
  ),
  "a route that gets no tasks": {
    id: "routes_down",
    status: "warn",
    set: async () => {
      const cwd = await folder();
      change(
        cwd,
        "insert into route_trouble (provider, upstream_model, detail, since, kind) values ('fal', 'fal-ai/flux/dev', 'fal answered 503', 0, 'open')",
        "insert into route_trouble (provider, upstream_model, detail, since, kind) values ('bfl', '', 'by an operator', 0, 'blocked')",
      );
      return { cwd };
    },
    fix: /^svc routes allow fal fal-ai\/flux\/dev --data-dir /,
  },
  "recordings that go on": {
    id: "record",
    status: "warn",
    set: settings("record: recordings\n"),
    fix: "Leave out --record.",
    mend: write(""),
  },
  "answers that come from recordings": {
    id: "replay",
    status: "warn",
    set: settings("replay: recordings\n"),
    fix: "Leave out --replay.",
    mend: write(""),
  },
};

describe("svc doctor finds", () => {
  test.each(Object.entries(BROKEN))(
    "%s, and its fix is true",
    async (_, { id, set, fix, mend, status = "error" }) => {
      const run = await set();
      const before = await doctor(run);
      const [found] = bad(before.checks, id);
      expect([found?.status, found?.fix]).toEqual([status, expect.stringMatching(pattern(fix))]);
      expect(before.exitCode).toBe(before.checks.some((each) => each.status === "error") ? 1 : 0);
      if (mend === undefined) await runFix(run, found?.fix ?? "false");
      const mended = mend === undefined ? run : await mend(run, found?.fix ?? "");
      expect(bad((await doctor(mended)).checks, id)).toEqual([]);
    },
  );

  test("a folder of its libraries that others can change, and the fix is true", async () => {
    const native = emptyFolder();
    chmodSync(native, 0o777);
    const look = async () => {
      const child = spawnSvc(["doctor", "--json"], { cwd: emptyFolder(), env: { SVC_NATIVE_DIR: native } });
      const { checks } = JSON.parse(await child.stdout.text()) as { checks: Shown[] };
      return checks.filter(({ id }) => id === "native");
    };
    const [found] = await look();
    expect([found?.status, found?.fix]).toEqual(["error", `chmod go-w ${native}`]);
    await runFix({ cwd: native }, found?.fix ?? "");
    expect((await look())[0]?.status).toBe("ok");
  });
});

test("accepted tasks whose provider is not switched on are told, with what is held for them", async () => {
  const cwd = await folder();
  expect((await svc(["accounts", "create", "studio", "--credit", "5.00"], { cwd })).exitCode).toBe(0);
  const store = openStore({ path: join(cwd, "svc-data/svc.db") });
  const [account] = await store.accounts.accounts({ limit: 100 });
  const task = { accountId: account!.id, held: micros(30_000) };
  for (const [number, name] of ["fal/second", "fal/second", "gone", "sandbox"].entries())
    await admit(store, { ...task, number, lane: lane(name) });
  await store.stop();
  const told = bad((await doctor({ cwd })).checks, "tasks_waiting");
  expect(told.map(({ message }) => message)).toEqual([
    "2 accepted tasks wait for fal/second, which is not switched on with these settings and variables; 0.060000 USD is held meanwhile.",
    "1 accepted task waits for gone, which is not switched on with these settings and variables; 0.030000 USD is held meanwhile.",
  ]);
  expect(told.map(({ fix }) => fix?.split(". ")[0])).toEqual([
    "`svc providers show fal` says what it needs",
    "Put providers/gone.yaml back",
  ]);
});

const pattern = (fix: string | RegExp) =>
  typeof fix === "string" ? new RegExp(`^${RegExp.escape(fix)}`) : fix;

test("checks of what a test cannot bring about say what they are about", () => {
  const statuses = (findings: readonly Finding[]) => findings.map(({ id, status }) => `${id} ${status}`);
  const disk = (type: number, bavail: number) =>
    fileSystemOf("/data", {
      statfs: (() => ({ type, bavail, blocks: 1e9, bsize: 4096 })) as never,
      mounts: () => "",
    });
  expect(statuses(spaceChecks("/data", disk(0x6969, 1e9)))).toEqual(["disk_space ok", "file_system error"]);
  expect(statuses(spaceChecks("/data", disk(0xff534d42 | 0, 4e6)))).toEqual([
    "disk_space warn",
    "file_system error",
  ]);
  expect(statuses(spaceChecks("/data", disk(0x01021994, 10)))).toEqual([
    "disk_space error",
    "file_system warn",
  ]);
  expect(statuses(spaceChecks("/data", disk(0x794c7630, 1e9)))).toEqual([
    "disk_space ok",
    "file_system warn",
  ]);
  expect(statuses(spaceChecks("/data", disk(0xef53, 1e9)))).toEqual(["disk_space ok", "file_system ok"]);
  const mounts = () => "none / ext4 rw 0 0\nnone /home tmpfs rw,noexec 0 0\nnone /home/me ext4 rw 0 0\n";
  const noExec = (path: string) =>
    fileSystemOf(path, { statfs: (() => ({ type: 0, bavail: 1, bsize: 1 })) as never, mounts }).isNoExec;
  expect([noExec("/home/you/.cache"), noExec("/home/me/.cache"), noExec("/homes")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(statuses(descriptorCheck(1_024))).toEqual(["descriptors warn"]);
  expect(statuses(clockCheck(0))).toEqual(["clock error"]);
  expect(statuses(skewCheck(100_000, { dateMs: 0, host: "x" }))).toEqual(["clock_skew warn"]);
});

describe("svc doctor", () => {
  test("finds nothing wrong where nothing is yet, and leaves nothing there", async () => {
    const cwd = emptyFolder();
    const { exitCode, checks } = await doctor({ cwd, args: ["--port", String(freePort())] });
    const ids = ["file_system", "port", "descriptors", "native"];
    expect(checks.filter((each) => each.status !== "ok" && !ids.includes(each.id))).toEqual([]);
    expect([exitCode, readdirSync(cwd)]).toEqual([0, []]);
    expect(checks.every(({ fix, status }) => (fix === null) === (status === "ok"))).toBe(true);
  });

  test.if(process.platform === "linux")("finds a port free that only another address has", async () => {
    const other = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response() });
    stops.push(() => other.stop(true));
    // Other tests and their connections are at 127.0.0.1.
    const args = ["--host", "127.0.0.3", "--port", String(other.port)];
    const { checks } = await doctor({ cwd: emptyFolder(), args });
    expect(bad(checks, "port")).toEqual([]);
  });

  test.each([
    ["at rest", () => {}],
    ["after a crash", leaveLog],
    ["of a server that runs", serve],
  ] as const)("changes nothing in a folder %s", async (_, prepare) => {
    const cwd = await folder("log: { level: debug }\n");
    await made(cwd, "accounts", "create", "studio");
    await made(cwd, "keys", "create", "--name", "web", "--account", "studio");
    await made(cwd, "keys", "update", "web", "--callback-secret", "new");
    prepare(cwd);
    const before = contents(join(cwd, "svc-data"));
    const { checks } = await doctor({ cwd });
    expect(bad(checks, "database")).toEqual([]);
    expect(contents(join(cwd, "svc-data"))).toEqual(before);
  });

  test("breaks what it says between words, and no fix, which may be a command to copy", async () => {
    const cwd = await folder();
    const context = fakeContext({
      cwd,
      isTerminal: true,
      columns: 60,
      env: { PATH: process.env.PATH ?? "" },
    });
    await runProgram(["doctor", "--no-color"], context);
    const lines = context.stdout.text().trimEnd().split("\n");
    expect(
      lines.filter(
        (line) => Bun.stringWidth(line) > 60 && !line.startsWith("  fix: ") && line.trim().includes(" "),
      ),
    ).toEqual([]);
    expect(lines.filter((line) => !/^(?:[✓!✗] \w+(?: {2}\S|$)| {2}\S)/.test(line))).toEqual([]);
  });

  test("writes a report without keys, tokens, prompts and passwords", async () => {
    const canary = "canary0123456789";
    const log = join(emptyFolder(), "svc.log");
    writeFileSync(
      log,
      [
        `{"level":30,"prompt":"a ${canary}","msg":"x"}`,
        `[12:00:00] INFO: sk-svc-${canary} mt-svc-${canary} whsec_${canary} Bearer ${canary}`,
        `url=https://user:${canary}@cdn.example/a.png?X-Signature=${canary}`,
        "the last line",
      ].join("\n"),
    );
    const cwd = await folder(
      `proxy: http://user:${canary}@127.0.0.1:1\nproviders: { openai: { accounts: [{ name: a, key_env: MAIN_KEY }] } }\n`,
    );
    const env = {
      MAIN_KEY: `${canary}-main`,
      OPENAI_BASE_URL: answering(() =>
        Response.json({ error: { message: `Bad key ${canary}-main` } }, { status: 401 }),
      ).origin,
      SVC_SECRET_KEY: `${canary}-of-twenty-and-more`,
      SVC_MANAGEMENT_TOKEN: `mt-svc-${canary}`,
    };
    const path = join(emptyFolder(), "report.json");
    const { stdout } = await svc(["doctor", "--json", "--bundle", path, "--log", log], { cwd, env });
    const text = readFileSync(path, "utf8");
    expect([text.includes(canary), stdout.includes(canary)]).toEqual([false, false]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const report = JSON.parse(text);
    expect(Object.keys(report)).toEqual(expect.arrayContaining(["checks", "log", "settings", "version"]));
    expect(report.log.at(-1)).toBe("the last line");
    expect(report.settings.find(({ key }: { key: string }) => key === "proxy").value).toBe("[secret]");
  });
});

/** Does what a server does to its folder as long as it runs. */
function serve(cwd: string): void {
  const lock = lockDirectory(join(cwd, "svc-data"));
  const db = openDatabase(join(cwd, "svc-data/svc.db"));
  db.run("insert or replace into heartbeat values (1, 5)");
  stops.push(() => {
    db.stop();
    lock?.release();
  });
}

/** Leaves a write-ahead log beside the database, as a killed server does. */
function leaveLog(cwd: string): void {
  const path = join(cwd, "svc-data/svc.db");
  using db = new Database(path);
  db.run("pragma wal_autocheckpoint = 0");
  db.run("insert or replace into heartbeat values (1, 5)");
  const copies = ["", "-wal", "-shm"].map((suffix) => [path + suffix, readFileSync(path + suffix)] as const);
  db.close();
  for (const [name, bytes] of copies) writeFileSync(name, bytes, { mode: 0o600 });
}

/** Every file below a folder with its mode and a hash of what is in it. The index of a log is a cache. */
function contents(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .sort()
    .filter((name) => !name.endsWith("-shm"))
    .map((name) => {
      const stats = statSync(join(root, name));
      const hash = stats.isFile() ? Bun.hash(readFileSync(join(root, name))) : "";
      return `${name} ${stats.mode.toString(8)} ${hash}`;
    });
}

test("a key in a variable that svc does not read is warned about, with what to do", async () => {
  const { checks } = await doctor({ cwd: emptyFolder(), env: { FAL_API_KEY: "abc" } });
  const warned = checks.filter(({ id, status }) => id === "providers" && status === "warn");
  expect(warned.map(({ message, fix }) => ({ message, fix }))).toEqual([
    {
      message: "fal: FAL_API_KEY is set, but the key of fal is read from FAL_KEY.",
      fix: 'export FAL_KEY="$FAL_API_KEY", if svc is to use it',
    },
  ]);
});
