import { StorageError } from "../../domain/ports/task-store.ts";
import { readPostgresAddress } from "../../toolkit/postgres-address.ts";
import { type Driver, type DriverOptions, openDriver } from "./driver.ts";
import { asStorageError } from "./errors.ts";
import { refusal } from "./refusals.ts";
import type { Session } from "./session.ts";
import { createWriter, type Writer, type WriterDeps } from "./writer.ts";

export interface Connection
  extends Pick<Writer, "write" | "writeFor" | "writeInOrder" | "trouble" | "giveUp"> {
  readonly driver: Driver;
  /** Runs reads, each statement on its own. @throws StorageError for an error of the storage */
  read<T>(query: (session: Session) => Promise<T>): Promise<T>;
  /** Runs reads that see one moment. */
  readAtOnce<T>(query: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Runs the statements with which a database is opened. If it is unfit, the error says where the database is and what to do.
   * @throws Error
   */
  opening<T>(run: () => Promise<T>): Promise<T>;
  /** Finishes requested work, then closes. Refuses later calls. */
  stop(): Promise<void>;
}

export interface ConnectionOptions extends Omit<DriverOptions, "most">, Omit<WriterDeps, "most"> {
  /** Most connections at once; 10 unless given. */
  readonly connections?: number | undefined;
}

const CONNECTIONS = 10;

/** Opens the pool of connections. Nothing is sent before the first statement. */
export function openConnection(options: ConnectionOptions): Connection {
  return connectionBy(openDriver({ ...options, most: options.connections ?? CONNECTIONS }), options);
}

/** What `openConnection` opens, by a driver that is there already, and which it closes. */
export function connectionBy(
  driver: Driver,
  options: Pick<ConnectionOptions, "url"> & Omit<ConnectionOptions, keyof DriverOptions>,
): Connection {
  const writer = createWriter(driver, { ...options, most: options.connections ?? CONNECTIONS });
  let isOpen = true;

  async function read<T>(query: (session: Session) => Promise<T>): Promise<T> {
    if (!isOpen) throw new StorageError("closed", "The database was closed.");
    try {
      return await query(driver);
    } catch (error) {
      throw asStorageError(error) ?? error;
    }
  }

  return {
    driver,
    write: writer.write,
    writeFor: writer.writeFor,
    writeInOrder: writer.writeInOrder,
    trouble: writer.trouble,
    giveUp: writer.giveUp,
    read,
    readAtOnce: (query) => read(() => readOneMoment(driver, query)),
    async opening(run) {
      try {
        return await run();
      } catch (error) {
        throw refusal(asStorageError(error) ?? error, readPostgresAddress(options.url)) ?? error;
      }
    },
    async stop() {
      if (!isOpen) return;
      isOpen = false;
      await writer.stop();
      await driver.close();
    },
  };
}

/** The body of `readAtOnce`. @throws what a statement threw */
export async function readOneMoment<T>(
  driver: Pick<Driver, "begin">,
  query: (session: Session) => Promise<T>,
): Promise<T> {
  const transaction = await driver.begin({ isLong: true });
  try {
    const set = transaction.ask("set transaction isolation level repeatable read, read only", []);
    // If it fails, the statements that follow fail too. Their failures are caught here, because an unhandled one would end the
    // process.
    set.catch(() => {});
    const result = await query(transaction);
    await transaction.prove();
    return result;
  } finally {
    // The transaction wrote nothing. If the connection is lost, so is the transaction.
    await transaction.rollback().catch(() => {});
  }
}
