import { OF_DATABASE, type Owner } from "../assets/owner.ts";
import { GONE_AFTER_MS, type NodeStore } from "../domain/ports/node-store.ts";
import type { Connection } from "../store/postgres/connection.ts";
import { DataDirectoryBusy } from "./data-folder.ts";

/** The nodes of a database, for a command. @throws StorageError, SchemaError */
export async function listSharedNodes(url: string): ReturnType<NodeStore["all"]> {
  const { openConnection } = await import("../store/postgres/connection.ts");
  const { requireMigrated } = await import("../store/postgres/migrate.ts");
  const { createNodeStore } = await import("../store/postgres/node-store.ts");
  const { requireHere } = await import("../store/postgres/moved-away.ts");
  const connection = openConnection({ url, connections: 1 });
  try {
    return await connection.opening(async () => {
      await requireMigrated(connection.driver);
      await requireHere(connection.driver);
      return createNodeStore(connection).all();
    });
  } finally {
    await connection.stop();
  }
}

/** No lock of a folder can stop nodes on other machines from storing. @throws DataDirectoryBusy */
export async function requireNoNodes(url: string): Promise<void> {
  const { nodes, now } = await listSharedNodes(url);
  const node = nodes.find(({ seenAt }) => now - seenAt < GONE_AFTER_MS);
  if (node === undefined) return;
  throw new DataDirectoryBusy(
    `The node ${node.name} serves the database, and nodes remove what nobody needs from their bucket by themselves. Stop all nodes to do it now.`,
  );
}

/**
 * The name of a database in a bucket, for a command.
 *
 * @param options.isUnfinished whether rows may still be moved into it, so that it has its tables and must not be served
 * @throws StorageError, SchemaError
 */
export async function sharedOwnerOf(
  url: string,
  { isUnfinished }: { isUnfinished: boolean },
): Promise<Owner> {
  const { openConnection } = await import("../store/postgres/connection.ts");
  const { requireMigrated } = await import("../store/postgres/migrate.ts");
  const connection = openConnection({ url, connections: 1 });
  try {
    return await connection.opening(async () => {
      if (!isUnfinished) await requireMigrated(connection.driver);
      return ownerOfDatabase(connection, url);
    });
  } finally {
    await connection.stop();
  }
}

/** How this database is named in a bucket: all of its nodes have the files there. */
export async function ownerOfDatabase(connection: Connection, url: string): Promise<Owner> {
  const { databaseId } = await import("../store/postgres/node-store.ts");
  const { host, pathname } = new URL(url);
  return { folder: `${OF_DATABASE}${await databaseId(connection)}`, host, path: pathname.slice(1) };
}
