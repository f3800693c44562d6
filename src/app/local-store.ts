import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Ids, Seal } from "../domain/ports/runtime.ts";
import type { Books } from "../store/books.ts";
import type { Store } from "../store/open.ts";
import { databaseOf, existingDatabaseOf, type Folder } from "./data-folder.ts";

/** The place of a command's data: a data folder, or the PostgreSQL database of its settings. */
export type Stored = Folder & Partial<Pick<Config, "database">>;

/** What a command works with. */
export interface LocalStore {
  /** Accounts, keys, money and its use: all that most commands need. */
  readonly books: Pick<Books, "accounts" | "sessions" | "usage" | "trail">;
  /** Everything else is loaded on demand. */
  readonly all: () => Promise<Store>;
  readonly stop: () => Promise<void>;
}

interface Parts {
  readonly ids: Ids;
  readonly seal?: Seal | undefined;
}

/**
 * Opens the stores for a command, while servers may be running on them, even older ones: only `serve` and `migrate` change tables.
 *
 * @throws Error when a folder has no database; SchemaError when the database is of another version
 */
export async function openLocalStore(config: Stored, parts: Parts): Promise<LocalStore> {
  if (config.database !== undefined) return openShared(config.database.reveal(), parts);
  const { openBooks } = await import("../store/books.ts");
  const options = { path: existingDatabaseOf(config), ...parts, migrate: false };
  const opened = openBooks(options);
  return {
    books: opened.books,
    async all() {
      const { storeOn } = await import("../store/open.ts");
      return storeOn(opened, options);
    },
    stop: opened.books.stop,
  };
}

/** Whether there is a database: a folder may have none yet. */
export function hasDatabase(config: Stored): boolean {
  return config.database !== undefined || existsSync(databaseOf(config));
}

/** Connections of a command, which does one thing at a time. */
const CONNECTIONS = 2;

async function openShared(url: string, { ids, seal }: Parts): Promise<LocalStore> {
  const { openStore } = await import("../store/postgres/open.ts");
  const store = await openStore({
    url,
    ids,
    seal,
    migrate: false,
    watches: false,
    connections: CONNECTIONS,
  });
  return { books: store, all: async () => store, stop: store.stop };
}
