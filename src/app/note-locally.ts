import { existsSync } from "node:fs";
import type { TrailNote } from "../domain/access/trail.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { openBooks } from "../store/books.ts";
import { databaseOf, type Folder } from "./data-folder.ts";
import { localActor } from "./local-actor.ts";

/**
 * Notes what a command is about to change in a data folder, outside of its database. A folder without a database has no trail yet.
 *
 * @throws SchemaError when the database is of another version
 */
export async function noteLocally(folder: Folder, note: TrailNote): Promise<void> {
  const path = databaseOf(folder);
  if (!existsSync(path)) return;
  const { books } = openBooks({ path, migrate: false });
  try {
    await books.trail.note({ actor: localActor(), at: createSystemClock().now() }, note);
  } finally {
    await books.stop();
  }
}

/**
 * Notes what a command is about to do that must be possible where nothing can be noted: on a full disk, say, it is what frees space.
 *
 * @returns why it could not be noted
 */
export async function tryNoteLocally(folder: Folder, note: TrailNote): Promise<string | undefined> {
  try {
    await noteLocally(folder, note);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
