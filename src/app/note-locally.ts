import type { TrailNote } from "../domain/access/trail.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { localActor } from "./local-actor.ts";
import { hasDatabase, openLocalStore, type Stored } from "./local-store.ts";

/**
 * Records in the trail what a command is about to change in a data folder, outside of its database. A folder without a database has
 * no trail yet.
 *
 * @throws SchemaError when the database is of another version
 */
export async function noteLocally(folder: Stored, note: TrailNote): Promise<void> {
  if (!hasDatabase(folder)) return;
  const clock = createSystemClock();
  const { books, stop } = await openLocalStore(folder, { ids: createIds(clock) });
  try {
    await books.trail.note({ actor: localActor(), at: clock.now() }, note);
  } finally {
    await stop();
  }
}

/**
 * Records in the trail a command that must be possible even if nothing can be recorded, for example because it frees space on a full
 * disk.
 *
 * @returns why it could not be recorded
 */
export async function tryNoteLocally(folder: Stored, note: TrailNote): Promise<string | undefined> {
  try {
    await noteLocally(folder, note);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
