import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { SQL } from "bun";
import { type DatabaseServer, startPostgres } from "../../moving/database-servers.ts";
import { cpuMs } from "../run/process.ts";

/** What a database has done so far. */
export interface Used {
  readonly cpuMs: number;
  readonly statements: number;
  readonly commits: number;
  readonly walBytes: number;
}

/** How often what transactions wait for is looked at. Each look costs the database something, so looks are apart from what is measured. */
const LOOK_EACH_MS = 4;
const LISTENERS = 16;
const NOTIFICATIONS = 3_000;
const SETTINGS = [
  "fsync=on",

  "shared_preload_libraries=pg_stat_statements",
  "track_wal_io_timing=on",
  "max_connections=200",
];

/** A PostgreSQL server that flushes its log, and counts what it does. */
export async function openMeasuredDatabase() {
  const folder = mkdtempSync("/tmp/svc-scaling-");
  chmodSync(folder, 0o755);
  const server: DatabaseServer = await startPostgres(folder, { settings: SETTINGS });
  const url = await server.newDatabase();
  const sql = new SQL({ url, max: 2 });
  await sql.unsafe("create extension pg_stat_statements");
  const numbers = async (text: string): Promise<Record<string, number>> => {
    const [row] = await sql.unsafe(text);
    return Object.fromEntries(
      Object.entries(row as Record<string, unknown>).map(([name, value]) => [name, Number(value)]),
    );
  };
  return {
    url,
    async used(): Promise<Used> {
      const { statements = 0 } = await numbers(
        "select coalesce(sum(calls), 0) as statements from pg_stat_statements",
      );
      // Every transaction that writes has a number of its own; those that read have none.
      const { commits = 0 } = await numbers(
        "select pg_snapshot_xmax(pg_current_snapshot())::text as commits",
      );
      const { wal = 0 } = await numbers("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal");
      return { cpuMs: cpuMs(server.pid()) ?? 0, statements, commits, walBytes: wal };
    },
    /** How long one flush of the log takes, of all so far. */
    async flushUs(): Promise<number> {
      const { us = 0 } = await numbers(
        "select wal_sync_time * 1000 / greatest(wal_sync, 1) as us from pg_stat_wal",
      );
      return us;
    },
    /** What a statement costs that is sent alone, and a notification for each that listens. */
    async notifying(): Promise<{ readonly statementUs: number; readonly listenUs: number }> {
      const channel = "scaling";
      const runs: number[] = [];
      const listeners: SQL[] = [];
      for (const count of [0, LISTENERS]) {
        while (listeners.length < count) {
          const listener = new SQL({ url, max: 1 });
          await listener.unsafe(`listen ${channel}`);
          listeners.push(listener);
        }
        const before = cpuMs(server.pid()) ?? 0;
        for (let i = 0; i < NOTIFICATIONS; i++)
          await sql.unsafe(`select pg_notify('${channel}', '${"x".repeat(99)}${i}')`);
        // Those that listen answer to the server a little later.
        await Bun.sleep(200);
        runs.push((((cpuMs(server.pid()) ?? 0) - before) * 1000) / NOTIFICATIONS);
      }
      for (const listener of listeners) await listener.close();
      const [alone = 0, heard = 0] = runs;
      return { statementUs: alone, listenUs: Math.max(0, heard - alone) / LISTENERS };
    },
    ended: async () => (await numbers("select count(*) as n from task where status = 'completed'")).n ?? 0,
    /** How many transactions hold rows on average, looked at again and again until `isOver`. */
    async holders(isOver: () => boolean): Promise<number> {
      let [looks, found] = [0, 0];
      while (!isOver()) {
        const { n = 0 } = await numbers(
          `select count(*) as n from pg_stat_activity where backend_xid is not null and wait_event_type is distinct from 'Lock' and pid <> pg_backend_pid()`,
        );
        looks += 1;
        found += n;
        await Bun.sleep(LOOK_EACH_MS);
      }
      return found / Math.max(1, looks);
    },
    async stop(): Promise<void> {
      await sql.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type MeasuredDatabase = Awaited<ReturnType<typeof openMeasuredDatabase>>;

/** What was done between two looks, for each of `count`, less what nodes do in that time in any case. */
export function eachOf(
  before: Used,
  after: Used,
  count: number,
): Omit<Used, "cpuMs"> & { readonly databaseUs: number } {
  return {
    databaseUs: ((after.cpuMs - before.cpuMs) * 1000) / count,
    statements: (after.statements - before.statements) / count,
    commits: (after.commits - before.commits) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
  };
}
