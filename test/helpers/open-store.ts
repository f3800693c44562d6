import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "../../src/store/open.ts";
import { openDatabase } from "../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../src/store/sqlite/migrate.ts";
import { countingTokens } from "./store.ts";

let migrated: Uint8Array | undefined;

/** An empty database with all tables, as a file has it. Migrating takes longer than most tests do, so a process does it once. */
function migratedDatabase(): Uint8Array {
  if (migrated !== undefined) return migrated;
  const db = openDatabase(":memory:");
  applyMigrations(db);
  migrated = db.serialize();
  db.stop();
  return migrated;
}

/** A database file with all tables and no rows, in a directory of its own. */
export function migratedFile(): { path: string; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "svc-store-"));
  const path = join(directory, "svc.db");
  writeFileSync(path, migratedDatabase());
  return { path, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** A store with no rows, whose file goes when it is stopped. Its leases count from `lease-1` unless other ids are given. */
export function openEmptyStore(ids: Parameters<typeof openStore>[0]["ids"] = countingTokens()): Store {
  const { path, remove } = migratedFile();
  const store = openStore({ path, ids });
  const { stop } = store;
  return Object.assign(store, {
    async stop() {
      await stop();
      remove();
    },
  });
}
