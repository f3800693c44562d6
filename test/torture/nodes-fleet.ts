import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { type Server, spawnServer } from "../helpers/server.ts";
import { onceOn } from "../moving/database-servers.ts";
import { skewedClock } from "./nodes-clocks.ts";
import type { Networks } from "./nodes-networks.ts";

const SECRET_KEY = "k".repeat(43);
const LEASE_SECONDS = 3;

const READY_WITHIN_MS = 60_000;
const ANSWERS_WITHIN_MS = 2_000;
const STARTS_AGAIN_AFTER_MS = 50;

/** Resolves once a node takes tasks. Only the first of all has a first key, which `ready` would wait for. */
async function isReady(origin: string, server: () => Server | undefined): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${origin}/readyz`, {
      keepalive: false,
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    }).catch(() => undefined);
    if (answer?.status === 200) return;
    if (performance.now() > until)
      throw new Error(`A node is not ready.\n${server()?.stderr().slice(-2_000)}`);
    await Bun.sleep(50);
  }
}

function messageOf(line: string): string {
  try {
    const { msg, err } = JSON.parse(line);
    return `${msg}${err?.message === undefined ? "" : `: ${err.message}`}`;
  } catch {
    return line;
  }
}

export type Fleet = ReturnType<typeof createFleet>;

export interface FleetOptions {
  readonly count: number;
  readonly folder: string;
  readonly url: string;
  /** Those of the nodes, where they can have some of their own. */
  readonly networks: Networks | undefined;
}

/**
 * Nodes that serve one database, each with a data folder, a network and a clock of its own, all with one folder of files. The last one
 * takes requests and leaves tasks to the others.
 */
export function createFleet({ count, folder, url, networks }: FleetOptions) {
  mkdirSync(folder, { recursive: true });
  const places = Array.from({ length: count }, (_, i) => ({
    port: freePort(),
    dataDir: join(folder, `node-${i}`),
    logs: join(folder, `log-${i}`),
    address: networks?.addressOf(i) ?? "127.0.0.1",
  }));
  for (const { logs } of places) mkdirSync(logs, { recursive: true });
  const originOf = (i: number) => `http://${places[i]?.address}:${places[i]?.port}`;
  const servers: (Server | undefined)[] = [];
  let isOver = false;
  /** What is to be undone later, by the timers of it. */
  const later = new Map<ReturnType<typeof setTimeout>, () => void>();

  function spawn(i: number): Server {
    const place = places[i];
    if (place === undefined) throw new Error(`There is no node ${i}.`);
    const server = spawnServer({
      ...place,
      via: networks?.via(i) ?? [],
      args: [
        ...["--node-name", `node-${i}`, "--assets-path", join(folder, "assets"), "--host", place.address],
        ...["--role", count > 1 && i === count - 1 ? "api" : "all"],
        ...["--egress-allow", networks?.range ?? "127.0.0.1/32", "--callbacks-delays-seconds", "1,2,4,8"],
      ],
      env: {
        SVC_DATABASE: url,
        SVC_SECRET_KEY: SECRET_KEY,
        SVC_SCHEDULER_LEASE_SECONDS: String(LEASE_SECONDS),
        SVC_SCHEDULER_DRAIN_SECONDS: "2",
        ...skewedClock(i),
      },
    });
    servers[i] = server;
    void server.exited.then(() => startAgain(i));
    return server;
  }

  const signal = (server: Server | undefined, name: NodeJS.Signals) => {
    if (server !== undefined && !server.hasExited()) process.kill(server.pid, name);
  };

  function undoLater(forMs: number, undo: () => void): void {
    const timer = setTimeout(() => {
      later.delete(timer);
      undo();
    }, forMs);
    later.set(timer, undo);
  }

  function undoAll(): void {
    for (const [timer, undo] of later) {
      clearTimeout(timer);
      undo();
    }
    later.clear();
  }

  /** As a supervisor does, however the node ended: one that cannot reach the database when it starts says so and ends. */
  async function startAgain(i: number): Promise<void> {
    await Bun.sleep(STARTS_AGAIN_AFTER_MS);
    if (!isOver) spawn(i);
  }

  return {
    count,
    url,
    origins: () => places.map((_, i) => originOf(i)),
    dataDir: () => places[0]?.dataDir ?? "",
    firstKey: () => servers[0]?.firstKey() ?? "",
    /** The first makes the tables and the first key. */
    async start(): Promise<void> {
      spawn(0);
      await isReady(originOf(0), () => servers[0]);
      await servers[0]?.says(/first API key/);
      for (let i = 1; i < count; i++) spawn(i);
    },
    kill: (i: number) => signal(servers[i], "SIGKILL"),
    drain: (i: number) => signal(servers[i], "SIGTERM"),
    /** Stops a process where it stands, and lets it go on later. */
    standStill(i: number, forMs: number): void {
      const server = servers[i];
      signal(server, "SIGSTOP");
      undoLater(forMs, () => signal(server, "SIGCONT"));
    },
    /** Loses all that is sent to a node and by it, for a time. */
    cutNetwork(i: number, forMs: number): void {
      networks?.cut(i);
      undoLater(forMs, () => networks?.mend(i));
    },
    /** Ends every connection of the nodes at once, as a broken network does. */
    cut: () =>
      onceOn(
        url,
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      ).catch(() => {}),
    /** Lets all go on and be there. */
    async heal(): Promise<void> {
      undoAll();
      await Promise.all(places.map((_, i) => isReady(originOf(i), () => servers[i])));
    },
    /** What the nodes have said in words, of a level, and how often. */
    said(level: string): Map<string, number> {
      const lines = servers.flatMap((server) => server?.stderr().split("\n") ?? []);
      const messages = lines.filter((line) => line.includes(`"level":"${level}"`)).map(messageOf);
      return new Map([...Map.groupBy(messages, (text) => text)].map(([text, all]) => [text, all.length]));
    },
    async stop(): Promise<void> {
      isOver = true;
      undoAll();
      await Promise.all(servers.map((server) => server?.stop()));
    },
  };
}
