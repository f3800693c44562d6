import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { type Server, spawnServer } from "../helpers/server.ts";
import { onceOn } from "../moving/database-servers.ts";

const SECRET_KEY = "k".repeat(43);
const LEASE_SECONDS = 3;

const READY_WITHIN_MS = 60_000;

/** Resolves once a node takes tasks. Only the first of all has a first key, which `ready` would wait for. */
async function isReady(server: Server | undefined): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${server?.url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    if (server?.hasExited() || performance.now() > until)
      throw new Error(`A node is not ready.\n${server?.stderr().slice(-2_000)}`);
    await Bun.sleep(50);
  }
}

export type Fleet = ReturnType<typeof createFleet>;

/** Nodes that serve one database, each with a data folder of its own, all with one folder of files. */
export function createFleet({ count, folder, url }: { count: number; folder: string; url: string }) {
  mkdirSync(folder, { recursive: true });
  const places = Array.from({ length: count }, (_, i) => ({
    port: freePort(),
    dataDir: join(folder, `node-${i}`),
  }));
  const servers: (Server | undefined)[] = [];
  const still = new Set<ReturnType<typeof setTimeout>>();

  function spawn(i: number): Server {
    const place = places[i];
    if (place === undefined) throw new Error(`There is no node ${i}.`);
    const server = spawnServer({
      ...place,
      args: ["--node-name", `node-${i}`, "--assets-path", join(folder, "assets")],
      env: {
        SVC_DATABASE: url,
        SVC_SECRET_KEY: SECRET_KEY,
        SVC_SCHEDULER_LEASE_SECONDS: String(LEASE_SECONDS),
        SVC_SCHEDULER_DRAIN_SECONDS: "2",
      },
    });
    servers[i] = server;
    return server;
  }

  const signal = (server: Server | undefined, name: NodeJS.Signals) => {
    if (server !== undefined && !server.hasExited()) process.kill(server.pid, name);
  };

  async function again(i: number): Promise<void> {
    await servers[i]?.exited;
    spawn(i);
  }

  return {
    count,
    url,
    origins: () => places.map(({ port }) => `http://127.0.0.1:${port}`),
    dataDir: () => places[0]?.dataDir ?? "",
    firstKey: () => servers[0]?.firstKey() ?? "",
    /** The first makes the tables and the first key. */
    async start(): Promise<void> {
      await spawn(0).ready();
      for (let i = 1; i < count; i++) spawn(i);
    },
    async kill(i: number): Promise<void> {
      signal(servers[i], "SIGKILL");
      await again(i);
    },
    async drain(i: number): Promise<void> {
      signal(servers[i], "SIGTERM");
      // Others go on meanwhile.
      void again(i);
    },
    /** Stops a process where it stands, and lets it go on later. */
    standStill(i: number, forMs: number): void {
      const server = servers[i];
      signal(server, "SIGSTOP");
      const timer = setTimeout(() => {
        still.delete(timer);
        signal(server, "SIGCONT");
      }, forMs);
      still.add(timer);
    },
    /** Ends every connection of the nodes at once, as a broken network does. */
    cut: () =>
      onceOn(
        url,
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      ).catch(() => {}),
    /** Lets all go on and be there. */
    async heal(): Promise<void> {
      for (const timer of still) clearTimeout(timer);
      for (const server of servers) signal(server, "SIGCONT");
      await Bun.sleep(100);
      for (const [i, server] of servers.entries()) if (server === undefined || server.hasExited()) spawn(i);
      await Promise.all(servers.map(isReady));
    },
    async stop(): Promise<void> {
      await Promise.all(servers.map((server) => server?.stop()));
    },
  };
}
