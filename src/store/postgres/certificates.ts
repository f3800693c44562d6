import { readFileSync } from "node:fs";
import { StorageError } from "../../domain/ports/task-store.ts";
import type { PostgresAddress } from "../../toolkit/postgres-address.ts";

/** The certificates of an address. @throws StorageError for a file that cannot be read */
export function certificatesOf({ sslrootcert, sslcert, sslkey }: PostgresAddress) {
  return {
    // "system" is the name that PostgreSQL's own programs use for the operating system's roots.
    ...(sslrootcert !== undefined && sslrootcert !== "system" && { ca: contentOf(sslrootcert) }),
    ...(sslcert !== undefined && { cert: contentOf(sslcert) }),
    ...(sslkey !== undefined && { key: contentOf(sslkey) }),
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StorageError("away", `The certificate file ${path} of the database cannot be read.`, error);
  }
}
