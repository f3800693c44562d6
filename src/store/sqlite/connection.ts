import { constants, Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import type { TaskId } from "../../domain/ids.ts";
import { StorageError } from "../../domain/ports/task-store.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { translating } from "./errors.ts";
import { createGroupCommit, type GroupCommit, type GroupCommitDeps } from "./group-commit.ts";
import { createLogFlush, type FlushThread } from "./log-flush.ts";
import { plannedOnce } from "./planned-once.ts";

/** 3.51.3 repaired a race between a commit and a checkpoint that could lose data (https://sqlite.org/wal.html#walresetbug). */
const OLDEST_SQLITE = "3.51.3";
/**
 * 4 MiB, in KiB as the pragma takes it. A larger cache makes commits slower: after one that put the pages of an index in another
 * order, SQLite 3.54 looks at each page that it keeps (`sqlite3PcacheTruncate`), and these do not fit the processor's cache.
 */
const CACHE_KIB = 4_096;
/** Whether SQLite itself flushes each commit (https://sqlite.org/pragma.html#pragma_synchronous). */
const SYNCHRONOUS = { normal: 1, full: 2 } as const;
/** How long opening, migrating and closing wait for other processes. Nothing waits inside SQLite in between. */
const BUSY_TIMEOUT_MS = 5_000;
const AT_REST = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
const CLOSED = "The database was closed.";

export interface Connection extends Pick<GroupCommit, "write" | "trouble" | "giveUp"> {
  readonly db: Database;
  readonly orm: BunSQLiteDatabase;
  /**
   * Runs a read now, and gives what it read once it is durable: nobody is told of what a power failure may undo.
   *
   * @throws StorageError for an error of the storage
   */
  read<T>(query: () => T): T | Promise<T>;
  /** The same for what is told of one task, and of nothing else: it waits for writes alone that may end the task. */
  readOf<T>(task: TaskId, query: () => T): T | Promise<T>;
  /** The same without waiting: for what decides, for what never changes, and for places in a queue, which hold for a moment only. */
  look<T>(query: () => T): T;
  /** Registers a function to call after writes were rolled back, before others run. */
  onUndone(forget: () => void): void;
  /** Runs work that may wait for other processes and for the disk, and blocks the event loop meanwhile. */
  patiently<T>(run: () => T): T;
  /** Copies the write-ahead log into the database and empties it, unless a reader prevents it. @returns whether it is empty */
  checkpoint(): boolean;
  /** Commits what waits, empties the log and closes. */
  stop(): Promise<void>;
}

export interface ConnectionOptions extends GroupCommitDeps {
  /** A file, created if missing, or `:memory:`. */
  readonly path: string;
  /** Copies a long write-ahead log into the database in a thread of its own. Without it that holds up the event loop. */
  readonly copyAside?: (() => Promise<void>) | undefined;
  /** Flushes the log. Without it the event loop waits for the disk. */
  readonly flushThread?: FlushThread | undefined;
}

/**
 * Opens the one connection that writes.
 *
 * @throws StorageError when the file cannot be opened or is no database; Error when SQLite is too old or refuses a setting
 */
export function openConnection(options: ConnectionOptions): Connection {
  const db = openDatabase(options.path);
  const undone: (() => void)[] = [];
  const log = createLogFlush(options.path, options.flushThread);
  const group = createGroupCommit(db, {
    ...options,
    log,
    onCommitted: () => checkpoints.afterCommit(),
    onUndone: () => undone.forEach((forget) => void forget()),
  });
  const { copyAside } = options;
  const checkpoints = createCheckpoints(db, { onError: group.explain, copyAside });
  const patiently = createPatience(db);
  let isOpen = true;

  function look<T>(query: () => T): T {
    try {
      if (!isOpen) throw new StorageError("closed", CLOSED);
      return query();
    } catch (error) {
      throw group.explain(error);
    }
  }

  return {
    db,
    orm: drizzle({ client: db }),
    write: group.write,
    trouble: group.trouble,
    giveUp: group.giveUp,
    onUndone: (forget) => void undone.push(forget),
    look,
    read: (query) => durably(look(query), log.pending()),
    readOf: (task, query) => durably(look(query), log.pending(task)),
    patiently,
    checkpoint: () => isOpen && checkpoints.truncate(),
    async stop() {
      if (!isOpen) return;
      isOpen = false;
      patiently(group.giveUp);
      group.refuse(new StorageError("closed", CLOSED));
      await Promise.all([log.stop(), checkpoints.stop()]);
      checkpoints.truncate();
      db.stop();
    },
  };
}

function durably<T>(value: T, pending: Promise<void> | undefined): T | Promise<T> {
  return pending === undefined ? value : pending.then(() => value);
}

/** From now on nothing waits inside SQLite: what is committed in groups is flushed by `LogFlush`. @returns what runs work that may wait */
function createPatience(db: Database): <T>(run: () => T) => T {
  function beImpatient(): void {
    apply(db, "synchronous", SYNCHRONOUS.normal);
    db.run("pragma busy_timeout = 0");
  }
  beImpatient();
  return (run) => {
    db.run(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.run(`pragma synchronous = ${SYNCHRONOUS.full}`);
    try {
      return run();
    } finally {
      beImpatient();
    }
  };
}

/**
 * Opens an existing database for reading only, beside the connection that writes.
 *
 * @param isAtRest nobody writes to it, and it has no write-ahead log: then no file is made beside it
 * @throws StorageError when there is none or it cannot be read
 */
export function openForReading(path: string, isAtRest = false): TrackingDatabase {
  return translating(() => {
    const db = isAtRest
      ? new TrackingDatabase(`${Bun.pathToFileURL(path)}?immutable=1`, AT_REST)
      : new TrackingDatabase(path, { readonly: true, strict: true });
    apply(db, "busy_timeout", BUSY_TIMEOUT_MS);
    apply(db, "trusted_schema", 0);
    apply(db, "temp_store", 2);
    return db;
  });
}

/** Opens a database, makes all settings and reads them back. Also for migrations, which need no group commit. */
export function openDatabase(path: string): TrackingDatabase {
  return translating(() => {
    const db = new TrackingDatabase(path, { create: true, readwrite: true, strict: true });
    try {
      configure(db, path);
    } catch (error) {
      db.close();
      throw error;
    }
    return db;
  });
}

/**
 * Prepares a statement when it is first used: a program, and a server's start, pay for what they use.
 *
 * Keeps track of its statements, because a database with open ones does not close and leaves its log behind. Statements that are
 * no longer referenced are forgotten.
 */
export class TrackingDatabase extends Database {
  private readonly statements = new Set<WeakRef<Statement>>();
  private readonly collected = new FinalizationRegistry<WeakRef<Statement>>((ref) => {
    this.statements.delete(ref);
  });

  // Safe: it has every method of a statement that is called here, and the type parameters only describe rows and parameters.
  override prepare: Database["prepare"] = (sql: string) => this.prepareLate(sql) as never;

  private prepareLate(sql: string): LateStatement {
    return new LateStatement(() => {
      const statement: Statement = super.prepare(plannedOnce(sql));
      const ref = new WeakRef(statement);
      this.statements.add(ref);
      this.collected.register(statement, ref);
      return statement;
    });
  }

  /** Ends all statements, then closes. */
  stop(): void {
    for (const ref of this.statements) ref.deref()?.finalize();
    this.statements.clear();
    this.close();
  }
}

/** A statement that is prepared when it is first used. */
class LateStatement implements Pick<Statement, "get" | "all" | "values" | "run" | "iterate" | "finalize"> {
  #prepared: Statement | undefined;
  constructor(private readonly make: () => Statement) {}

  get #statement(): Statement {
    this.#prepared ??= this.make();
    return this.#prepared;
  }

  get(...parameters: SQLQueryBindings[]) {
    return this.#statement.get(...parameters);
  }

  all(...parameters: SQLQueryBindings[]) {
    return this.#statement.all(...parameters);
  }

  values(...parameters: SQLQueryBindings[]) {
    return this.#statement.values(...parameters);
  }

  run(...parameters: SQLQueryBindings[]) {
    return this.#statement.run(...parameters);
  }

  iterate(...parameters: SQLQueryBindings[]) {
    return this.#statement.iterate(...parameters);
  }

  finalize(): void {
    this.#prepared?.finalize();
  }
}

function configure(db: Database, path: string): void {
  // Set first, because even a read has to wait while another process recovers the log.
  apply(db, "busy_timeout", BUSY_TIMEOUT_MS);
  const version = String(setting(db, "select sqlite_version()"));
  if (Bun.semver.order(version, OLDEST_SQLITE) < 0)
    throw new Error(`SQLite ${version} is too old: ${OLDEST_SQLITE} or later is needed.`);
  apply(db, "journal_mode", path === ":memory:" ? "memory" : "wal");
  apply(db, "synchronous", SYNCHRONOUS.full);
  apply(db, "foreign_keys", 1);
  apply(db, "trusted_schema", 0);
  apply(db, "cache_size", -CACHE_KIB);
  // Statement journals in memory: a full /tmp must not fail a write.
  apply(db, "temp_store", 2);
}

function apply(db: Database, pragma: string, value: number | string): void {
  db.run(`pragma ${pragma} = ${value}`);
  const actual = setting(db, `pragma ${pragma}`);
  if (actual !== value) throw new Error(`SQLite did not take ${pragma} = ${value}; it is ${actual}.`);
}

function setting(db: Database, sql: string): unknown {
  return db.query(sql).values()[0]?.[0];
}
