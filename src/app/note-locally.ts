import type { TrailNote } from "../domain/access/trail.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { localActor } from "./local-actor.ts";
import { hasDatabase, openLocalStore, type Stored } from "./local-store.ts";

/**
 * Notes what a command is about to change in a data folder, outside of its database. A folder without a database has no trail yet.
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
 * Notes what a command is about to do that must be possible where nothing can be noted: on a full disk, say, it is what frees space.
 *
 * @returns why it could not be noted
 */
export async function tryNoteLocally(folder: Stored, note: TrailNote): Promise<string | undefined> {
  try {
    await noteLocally(folder, note);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
