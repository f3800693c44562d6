import { readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { SQL } from "bun";
import { freePort } from "../helpers/free-port.ts";
import {
  adminOf,
  begun,
  initPostgres,
  onceOn,
  postgresCommand,
  postgresProgram,
  ran,
} from "./database-servers.ts";

/** A database server with a standby that has every commit before it is answered, behind an address that moves with the primary. */
export type DatabasePair = Awaited<ReturnType<typeof startPair>>;

const NAME = "gateway";
const LOOK_EVERY_MS = 25;
const WITHIN_MS = 60_000;
/** Commits wait until a standby has them and shows them; without one, they wait for one. */
const SETTINGS = [
  ...["-c", "synchronous_commit=remote_apply", "-c", "synchronous_standby_names=*"],
  ...["-c", "wal_retrieve_retry_interval=100ms", "-c", "max_connections=200"],
];

interface Instance {
  readonly port: number;
  readonly data: string;
  readonly process: Subprocess;
}

/**
 * Starts two servers of PostgreSQL, the second a streaming standby of the first, and an address in front of them.
 *
 * @param host where the address listens, besides 127.0.0.1
 */
export async function startPair(folder: string, host = "127.0.0.1") {
  let made = 0;
  let primary = await makePrimary();
  let standby = await makeStandby();
  const address = await openAddress(host, () => primary.port);
  await untilStreaming();
  await onceOn(adminOf(primary.port), `create database ${NAME}`);
  const url = new URL(adminOf(address.port));
  url.hostname = host;
  url.pathname = `/${NAME}`;
  let held: readonly number[] = [];

  function run(data: string, port: number): Promise<Subprocess> {
    return begun([...postgresCommand(folder, data, port), ...SETTINGS], folder, adminOf(port));
  }

  async function makePrimary(): Promise<Instance> {
    const [port, data] = [freePort(), join(folder, `data-${++made}`)];
    await initPostgres(folder, data);
    return { port, data, process: await run(data, port) };
  }

  async function makeStandby(): Promise<Instance> {
    const [port, data] = [freePort(), join(folder, `data-${++made}`)];
    const { hostname, username, password } = new URL(adminOf(primary.port));
    await ran(
      [
        ...[
          postgresProgram("pg_basebackup"),
          "-D",
          data,
          "-h",
          hostname,
          "-p",
          String(primary.port),
          "-U",
          username,
        ],
        ...["--write-recovery-conf", "--no-sync", "--checkpoint=fast"],
      ],
      folder,
      { PGPASSWORD: password },
    );
    return { port, data, process: await run(data, port) };
  }

  /** The standby has all that was written, and gets what is written. */
  function untilStreaming(): Promise<void> {
    return until(async () => {
      const [row] = await asked(primary.port, "select sync_state, state from pg_stat_replication");
      return row?.sync_state === "sync" && row.state === "streaming";
    });
  }

  function go(): void {
    for (const pid of held) signal(pid, "SIGCONT");
    held = [];
  }

  return {
    /** Names the primary, whichever it is. */
    url: url.href,
    /** Names the standby, which takes no writes. */
    standbyUrl: () => adminOf(standby.port).replace(/[a-z]+$/, NAME),
    /** Kills the standby, and does not start it again. Commits that are told to wait for it wait for ever. */
    async killStandby(): Promise<void> {
      killAll(standby.process.pid);
      await standby.process.exited;
    },
    /** Starts it again. */
    async restartStandby(): Promise<void> {
      standby = { ...standby, process: await run(standby.data, standby.port) };
    },
    /** Ends the primary at once, as a crash does, and starts it again. */
    async restart(): Promise<void> {
      primary.process.kill("SIGQUIT");
      await primary.process.exited;
      primary = { ...primary, process: await run(primary.data, primary.port) };
    },
    /** Kills the primary, lets the standby take over, and makes a new standby of it. Commits wait until that is there. */
    async failOver(): Promise<void> {
      go();
      await untilStreaming();
      killAll(primary.process.pid);
      await primary.process.exited;
      await onceOn(adminOf(standby.port), "select pg_promote(true, 60)");
      rmSync(primary.data, { recursive: true, force: true });
      primary = standby;
      address.cut();
      standby = await makeStandby();
      await untilStreaming();
    },
    /** Commits wait from now on, because the standby takes nothing, until `go`. */
    async holdCommits(): Promise<void> {
      const rows = await asked(standby.port, "select pid from pg_stat_wal_receiver");
      held = [...held, ...rows.map(({ pid }) => Number(pid))];
      for (const pid of held) signal(pid, "SIGSTOP");
    },
    go,
    async stop(): Promise<void> {
      go();
      address.stop();
      for (const { process } of [standby, primary]) {
        process.kill("SIGINT");
        await process.exited;
      }
    },
  };
}

async function asked(port: number, statement: string): Promise<Record<string, unknown>[]> {
  const sql = new SQL({ url: adminOf(port), max: 1, connectionTimeout: 5 });
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.close();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("The standby does not follow the primary.");
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

/** A server and all of its processes, which would otherwise go on for a moment. */
function killAll(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  signal(pid, "SIGSTOP");
  for (const each of [...children.map(Number), pid]) if (each > 0) signal(each, "SIGKILL");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

/** Takes connections, and hands them on to whatever is the target then. */
async function openAddress(host: string, target: () => number) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(target(), "127.0.0.1");
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("The address has no port.");
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: at.port,
    /** Ends every connection. */
    cut,
    stop() {
      cut();
      server.close();
    },
  };
}
