import type { Audit, AuditReport } from "../../domain/ports/audit.ts";
import { type AuditDialect, passesIn } from "../sqlite/audit/checks.ts";
import { COUNT_ROWS, SUM_MONEY, type SumRow, sumsIn } from "../sqlite/audit/sums.ts";
import {
  type FirstWrong,
  firstWrongIn,
  type WrongTask,
  wrongIn,
  wrongTask,
  wrongTaskIn,
} from "../sqlite/audit/tasks.ts";
import { type Found, inOrder, passStatement, toDifference } from "../sqlite/audit.ts";
import { type Connection, openConnection } from "./connection.ts";
import { requireMigrated } from "./migrate.ts";
import { type Session, statement } from "./session.ts";

const DIALECT: AuditDialect = {
  lengthOf: (list) => `json_array_length(${list}::json)`,
  amountOf: (lines) =>
    `(select coalesce(sum((line ->> 'amount')::bigint), 0) from json_array_elements(${lines}::json) as line)`,
  tellsOf: (event, terms) => `${event} in (select json_array_elements_text(${terms}::json -> 'events'))`,
  lower: (one, other) => `least(${one}, ${other})`,
  uncounted: `
    select coalesce((
      select max(until_at) / 86400000 from uncounted_time
      where exists (select 1 from task where stage = 'terminal' and completed_at >= from_at and completed_at < until_at)
    ), -1)`,
};

const PASSES = passesIn(DIALECT).map((pass) => statement<Found>(passStatement(pass)));
const COUNTS = statement<AuditReport["rows"]>(COUNT_ROWS);
const SUMS = statement<SumRow>(SUM_MONEY);
const FIRST_WRONG = statement<FirstWrong>(firstWrongIn(DIALECT));

/**
 * Opens a database to check its books. The check sees a single moment, and nobody is delayed. The database finds the errors in
 * its own memory and on its disk, so only one row for each check comes here.
 *
 * @throws SchemaError for a database with other tables than this program needs; StorageError when it cannot be read
 */
export async function openAudit({ url }: { readonly url: string }): Promise<Audit> {
  const connection = openConnection({ url, connections: 1 });
  try {
    await connection.opening(() => requireMigrated(connection.driver));
  } catch (error) {
    await connection.stop();
    throw error;
  }
  return { run: createAudit(connection), stop: () => void connection.stop() };
}

/** The body of `Audit.run`. */
export function createAudit({ readAtOnce }: Pick<Connection, "readAtOnce">): Audit["run"] {
  return () =>
    readAtOnce(async (session) => {
      const [rows] = await COUNTS.all(session);
      const [sums] = await SUMS.all(session);
      if (rows === undefined || sums === undefined) throw new Error("Nothing could be counted.");
      return { rows, sums: sumsIn(sums), differences: await differencesIn(session) };
    });
}

async function differencesIn(session: Session) {
  const differences = [];
  for (const pass of PASSES) differences.push(...(await pass.all(session)).map(toDifference));
  for (const { check, taskId } of wrongIn(await FIRST_WRONG.get(session))) {
    const detail = statement<WrongTask, [id: string]>(wrongTaskIn(DIALECT, check, "task.id = $1"));
    const figures = await detail.get(session, taskId);
    if (figures !== undefined) differences.push(wrongTask(check, taskId, figures));
  }
  return inOrder(differences);
}
