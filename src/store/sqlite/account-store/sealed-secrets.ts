import type { Database } from "bun:sqlite";
import type { KeyId } from "../../../domain/ids.ts";
import type { Seal } from "../../../domain/ports/runtime.ts";
import { withTemporaryFiles } from "../temporary-files.ts";

/** What happened to the stored callback secrets when the database was opened. */
export interface SealReport {
  /** Sealed now: these secrets were unencrypted, or sealed with a key that is no longer in use. */
  readonly sealed: number;
  /** Names of the keys whose secrets no key opens. */
  readonly locked: readonly string[];
  /** Why copies of unencrypted secrets may still be in unused parts of the file. */
  readonly leftOver?: string | undefined;
}

interface Row {
  readonly id: KeyId;
  readonly name: string;
  readonly secret: string;
}

/** A value of `user_version`: secrets were stored unencrypted, and pages no longer in use may still contain them. */
const UNSCRUBBED = 1;

/**
 * Seals every callback secret with the current key, and removes the remains of unencrypted ones.
 *
 * @param onScrub called before the whole file is rewritten, which takes seconds for each gigabyte
 */
export function sealSecrets(db: Database, seal: Seal, onScrub?: () => void): SealReport {
  const rows = db
    .query<Row, []>(
      "select id, name, callback_secret as secret from api_key where callback_secret is not null order by id",
    )
    .all();
  const locked: string[] = [];
  const changes: { readonly id: KeyId; readonly secret: string }[] = [];
  let hasClear = false;
  for (const { id, name, secret } of rows) {
    const state = seal.stateOf(secret);
    hasClear ||= state === "clear";
    const plain = state === "clear" ? secret : seal.open(secret, id);
    if (plain === undefined) locked.push(name);
    else if (state !== "sealed") changes.push({ id, secret: seal.seal(plain, id) });
  }
  if (changes.length > 0) store(db, changes, hasClear);
  return { sealed: changes.length, locked, leftOver: scrub(db, onScrub) };
}

function store(db: Database, changes: readonly Pick<Row, "id" | "secret">[], hasClear: boolean): void {
  db.run("begin immediate");
  try {
    const update = db.prepare("update api_key set callback_secret = ? where id = ?");
    for (const { id, secret } of changes) update.run(secret, id);
    update.finalize();
    if (hasClear) db.run(`pragma user_version = ${UNSCRUBBED}`);
    db.run("commit");
  } catch (error) {
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

/** Rewrites the whole file without unused pages, and empties the log. If it fails, the next start repeats it. */
function scrub(db: Database, onScrub: (() => void) | undefined): string | undefined {
  const version = db.query<{ user_version: number }, []>("pragma user_version").get()?.user_version;
  if (version !== UNSCRUBBED) return undefined;
  onScrub?.();
  try {
    withTemporaryFiles(db, () => db.run("vacuum"));
    const log = db.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get();
    if (log?.busy === 1) return "another process reads the database";
    db.run("pragma user_version = 0");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
