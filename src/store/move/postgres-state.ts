import { GONE_AFTER_MS } from "../../domain/ports/node-store.ts";
import { DATABASE_NOW } from "../postgres/node-store.ts";
import { type Session, statement } from "../postgres/session.ts";
import { MoveError } from "./places.ts";
import type { MovedTable } from "./tables.ts";

const SERVING = statement<{ name: string }>(
  `select name from node where seen_at > ${DATABASE_NOW} - ${GONE_AFTER_MS} order by name limit 1`,
);

export async function countRows(session: Session, { name }: MovedTable): Promise<number> {
  const { rows } = await session.ask(`select count(*) as count from "${name}"`, []);
  return Number(rows[0]?.count ?? 0);
}

/** @throws MoveError `in_use` while a node serves the database */
export async function refuseServed(session: Session): Promise<void> {
  const node = await SERVING.get(session);
  if (node === undefined) return;
  throw new MoveError("in_use", `The node ${node.name} serves the database. Stop every node first.`);
}
