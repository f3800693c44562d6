import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "../helpers/free-port.ts";

/** A database server of this machine, for tests. */
export interface DatabaseServer {
  /** The address of a new, empty database. Its password is `CANARY-password`. */
  newDatabase(): Promise<string>;
  /** Of the process that the others are children of. */
  pid(): number;
  /** Ends it at once, as a crash does, and starts it again. @param awayMs how long it is away meanwhile */
  restart(awayMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Neither server runs as root. */
const NOBODY = 65_534;
const PASSWORD = "CANARY-password";
/** Every 50 ms. */
const MOST_TRIES = 1000;
const isRoot = process.getuid?.() === 0;

function asNobody(command: readonly string[]): string[] {
  if (!isRoot) return [...command];
  return ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...command];
}

/** Runs a command to its end, not as root. @throws Error with what it said when it failed */
export async function ran(
  command: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = Bun.spawn(asNobody(command), {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...environment(folder), ...env },
  });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed.\n${out}${error}`);
}

const environment = (folder: string) => ({
  PATH: process.env.PATH ?? "",
  HOME: folder,
  TMPDIR: folder,
  LC_ALL: "C",
});

/** Starts a server, and waits until it answers. */
async function started(
  command: readonly string[],
  folder: string,
  admin: string,
): Promise<Omit<DatabaseServer, "newDatabase">> {
  let child = await begun(command, folder, admin);
  return {
    pid: () => child.pid,
    async restart(awayMs = 0) {
      child.kill(command.some((word) => word.endsWith("/postgres")) ? "SIGQUIT" : "SIGKILL");
      await child.exited;
      await Bun.sleep(awayMs);
      child = await begun(command, folder, admin);
    },
    async stop() {
      // PostgreSQL waits for its clients at SIGTERM, and ends them at SIGINT.
      child.kill(command.some((word) => word.endsWith("/postgres")) ? "SIGINT" : "SIGTERM");
      await child.exited;
    },
  };
}

/** Starts a server, not as root, and waits until it answers at `admin`. */
export async function begun(command: readonly string[], folder: string, admin: string) {
  const child = Bun.spawn(asNobody(command), {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
    env: environment(folder),
  });
  const errors = child.stderr.text();
  for (let tries = 0; ; tries++) {
    if (tries === MOST_TRIES) child.kill("SIGKILL");
    if (child.exitCode !== null) throw new Error(`${command[0]} ended.\n${await errors}`);
    try {
      await onceOn(admin, "select 1");
      break;
    } catch {
      // It does not listen yet.
      await Bun.sleep(50);
    }
  }
  return child;
}

/** Runs one statement on a connection of its own. */
export async function onceOn(address: string, ...statements: readonly string[]): Promise<void> {
  const sql = new SQL({ url: address, max: 1, connectionTimeout: 5 });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.close();
  }
}

function databases(admin: string): Pick<DatabaseServer, "newDatabase"> {
  let made = 0;
  return {
    async newDatabase() {
      const name = `gateway_${++made}`;
      await onceOn(admin, `create database ${name}`);
      return admin.replace(/\/[a-z]+$/, `/${name}`);
    },
  };
}

const POSTGRES = [
  "/usr/lib/postgresql/17/bin",
  "/usr/lib/postgresql/16/bin",
  "/usr/lib/postgresql/15/bin",
].find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
export const HAS_POSTGRES = POSTGRES !== undefined;
export const HAS_MARIADB = Bun.which("mariadbd") !== null && Bun.which("mariadb-install-db") !== null;

/** A program of PostgreSQL. */
export const postgresProgram = (name: string): string => join(POSTGRES ?? "", name);

/** The address by which a server of PostgreSQL on this machine is administered. */
export const adminOf = (port: number): string => `postgres://admin:${PASSWORD}@127.0.0.1:${port}/postgres`;

/** Makes the files of an empty server in a folder, which then belongs to whom it runs as. */
export async function initPostgres(folder: string, data: string): Promise<void> {
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const passwords = join(folder, "password");
  await Bun.write(passwords, PASSWORD);
  if (isRoot) chownSync(passwords, NOBODY, NOBODY);
  await ran(
    [
      postgresProgram("initdb"),
      "-D",
      data,
      "-U",
      "admin",
      "-E",
      "UTF8",
      "--auth=scram-sha-256",
      `--pwfile=${passwords}`,
      "--no-sync",
    ],
    folder,
  );
}

/**
 * The command of a server: on this machine alone, without waiting for its disk, and with more connections than the usual hundred, of which
 * one test of several nodes takes up to 60.
 */
export const postgresCommand = (folder: string, data: string, port: number): string[] => [
  ...[postgresProgram("postgres"), "-D", data, "-p", String(port)],
  ...["-h", "127.0.0.1", "-k", folder, "-F", "-c", "max_connections=400"],
];

/** Starts PostgreSQL in an empty folder. @param settings that are other than usual, as `name=value` */
export async function startPostgres(
  folder: string,
  { settings = [] }: { readonly settings?: readonly string[] } = {},
): Promise<DatabaseServer> {
  const port = freePort();
  const data = join(folder, "data");
  await initPostgres(folder, data);
  const admin = adminOf(port);
  // Of two that say the same thing, the later one holds.
  const command = [...postgresCommand(folder, data, port), ...settings.flatMap((each) => ["-c", each])];
  return { ...databases(admin), ...(await started(command, folder, admin)) };
}

/** Starts MariaDB in an empty folder. */
export async function startMariadb(folder: string): Promise<DatabaseServer> {
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const port = freePort();
  const data = join(folder, "data");
  await ran(
    [
      "mariadb-install-db",
      "--no-defaults",
      `--datadir=${data}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    folder,
  );
  const first = join(folder, "first.sql");
  const admin = `mysql://admin:${PASSWORD}@127.0.0.1:${port}/mysql`;
  await Bun.write(
    first,
    `create user admin@'127.0.0.1' identified by '${PASSWORD}';\ngrant all on *.* to admin@'127.0.0.1';\n`,
  );
  if (isRoot) chownSync(first, NOBODY, NOBODY);
  const command = [
    ...["mariadbd", "--no-defaults", `--datadir=${data}`, `--port=${port}`, "--bind-address=127.0.0.1"],
    ...[
      `--socket=${join(folder, "s")}`,
      `--pid-file=${join(folder, "pid")}`,
      `--init-file=${first}`,
      "--skip-name-resolve",
    ],
  ];
  return { ...databases(admin), ...(await started(command, folder, admin)) };
}
