import { SchemaError } from "../sqlite/migrate.ts";
import { type Session, statement } from "./session.ts";

/** The row of `move_progress` that says where the rows of this database went. No table has this name. */
const AWAY = "away";

/** The data folder to which the rows of a database were moved, as SQL. */
export const MOVED_TO = `select last_key as place from move_progress where name = '${AWAY}'`;

const PLACE = statement<{ place: string }>(MOVED_TO);
const NOTE = statement<never, [place: string]>(
  `insert into move_progress (name, last_key, rows, is_done) values ('${AWAY}', $1, 0, 1)
   on conflict (name) do update set last_key = excluded.last_key`,
);
const FORGET = statement(`delete from move_progress where name = '${AWAY}'`);

/** The data folder to which the rows of a database were moved; undefined if they are still here. */
export async function movedAwayTo(session: Session): Promise<string | undefined> {
  return (await PLACE.get(session))?.place;
}

/** Records that the rows of a database are in a data folder from now on, so that it is not served again. */
export async function noteMovedAway(session: Session, folder: string): Promise<void> {
  await NOTE.run(session, folder);
}

/** Records that the rows stay here after all. */
export async function forgetMovedAway(session: Session): Promise<void> {
  await FORGET.run(session);
}

/** @throws SchemaError `moved` for a database whose rows are in a data folder now */
export async function requireHere(session: Session): Promise<void> {
  const folder = await movedAwayTo(session);
  if (folder !== undefined) throw movedAway(folder);
}

/** Says where the rows of a database are. */
export const movedAway = (folder: string): SchemaError =>
  new SchemaError(
    "moved",
    `The rows of this database were moved to the data folder ${folder}. Serve that one, or move it to a new, empty database: svc db move --to URL --data-dir ${folder}.`,
  );
