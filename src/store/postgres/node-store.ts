import type { Node, NodeStore } from "../../domain/ports/node-store.ts";
import { readPostgresAddress, toPostgresUrl } from "../../toolkit/postgres-address.ts";
import type { Connection } from "./connection.ts";
import { heardSoon } from "./heard.ts";
import { MOVED_TO } from "./moved-away.ts";
import { statement } from "./session.ts";

/** The database's time, in epoch milliseconds. */
export const DATABASE_NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
const KEPT_MS = 3_600_000;

interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly role: Node["role"];
  readonly version: string;
  readonly started_at: number;
  readonly seen_at: number;
  readonly is_draining: 0 | 1;
}

const BEAT = statement<never, [id: string, name: string, role: string, version: string, draining: number]>(
  `insert into node (id, name, role, version, started_at, seen_at, is_draining)
   values ($1, $2, $3, $4, ${DATABASE_NOW}, ${DATABASE_NOW}, $5)
   on conflict (id) do update set seen_at = excluded.seen_at, is_draining = excluded.is_draining`,
);
const FORGET = statement(`delete from node where seen_at < ${DATABASE_NOW} - ${KEPT_MS}`);
const LEAVE = statement<never, [id: string]>("delete from node where id = $1");
const ALL = statement<NodeRow & { readonly now: number; readonly moved_to: string | null }>(
  `select *, ${DATABASE_NOW} as now, (${MOVED_TO}) as moved_to from node where seen_at >= ${DATABASE_NOW} - ${KEPT_MS} order by name, started_at, id limit 1000`,
);
const CONNECTED = statement<{ name: string }>(
  "select distinct application_name as name from pg_stat_activity where datname = current_database()",
);
const NOW = statement<{ now: number }>(`select ${DATABASE_NOW} as now`);

const IDENTIFY = statement(
  `insert into cluster (number, id) values (1, replace(gen_random_uuid()::text, '-', '')) on conflict (number) do nothing`,
);
const IDENTITY = statement<{ id: string }>("select id from cluster where number = 1");

/** The id of the database. It is created if there is none. */
export async function databaseId({ driver }: Pick<Connection, "driver">): Promise<string> {
  const known = await IDENTITY.get(driver);
  if (known !== undefined) return known.id;
  await IDENTIFY.run(driver);
  const made = await IDENTITY.get(driver);
  if (made === undefined) throw new Error("The database got no id.");
  return made.id;
}

/** The nodes of a PostgreSQL database. */
export function createNodeStore({ read, driver }: Connection): NodeStore {
  return {
    // Runs on a separate connection, because all transactions may wait and a working node must still report.
    async beat({ id, name, role, version, isDraining }) {
      await heardSoon(driver, (aside) => BEAT.run(aside, id, name, role, version, isDraining ? 1 : 0));
      await heardSoon(driver, (aside) => FORGET.run(aside));
    },
    leave: async (id) => void (await LEAVE.run(driver.aside, id)),
    all: () =>
      read(async () => {
        const rows = await heardSoon(driver, (aside) => ALL.all(aside));
        const now = rows[0]?.now ?? (await heardSoon(driver, (aside) => NOW.get(aside)))?.now ?? 0;
        return { nodes: rows.map(toNode), now, movedTo: rows[0]?.moved_to ?? undefined };
      }),
    connected: (self) =>
      read(async () => {
        const rows = await heardSoon(driver, (aside) => CONNECTED.all(aside));
        const ids = new Set(rows.map(({ name }) => name.slice(name.lastIndexOf(" ") + 1)));
        return ids.has(self) ? ids : undefined;
      }),
  };
}

/** The most characters of a name that its operator gave: the database keeps 63 in all. */
const MOST_NAME = 40;

/** The address of a database with a name for connections that says which node they are of. */
export function urlOfNode(url: string, id: string): string {
  const address = readPostgresAddress(url);
  const { applicationName = "svc" } = address;
  return toPostgresUrl({ ...address, applicationName: `${applicationName.slice(0, MOST_NAME)} ${id}` });
}

function toNode(row: NodeRow): Node {
  const { id, name, role, version, started_at: startedAt, seen_at: seenAt } = row;
  return { id, name, role, version, startedAt, seenAt, isDraining: row.is_draining === 1 };
}

/**
 * Follows the database's clock, which all nodes use.
 *
 * @param elapsed milliseconds that never jump
 * @returns the database's time, according to the last measurement
 */
export async function followDatabaseTime({ driver }: Pick<Connection, "driver">, elapsed: () => number) {
  const measure = async () => {
    const before = elapsed();
    const row = await heardSoon(driver, (aside) => NOW.get(aside));
    if (row === undefined) throw new Error("The database told no time.");
    const took = elapsed() - before;
    return { offset: row.now - (before + took / 2), took };
  };
  let known = await measure();
  return {
    now: () => Math.round(known.offset + elapsed()),
    /** Measures again. A slower measurement is less exact, and counts only if the clock was set. */
    async look(): Promise<void> {
      const next = await measure();
      const isOther = Math.abs(next.offset - known.offset) > next.took + known.took;
      // The required accuracy decreases a little each time, so that drifting clocks are followed.
      if (isOther || next.took <= known.took) known = next;
      else known = { ...known, took: known.took + 1 };
    },
  };
}
