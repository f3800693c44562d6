import { mkdtempSync, rmSync } from "node:fs";
import { startFakeS3 } from "../../helpers/fake-s3.ts";
import { onceOn, startPostgres } from "../../moving/database-servers.ts";

/** Where documents have the database and the bucket that nodes share. */
const DATABASE = { port: "5432", address: "postgres://svc:s3cret@127.0.0.1:5432/svc" };
const BUCKET_PORT = "9000";

/** Whether commands of a document use a database server. */
export const needsDatabase = (script: string): boolean => script.includes(DATABASE.address);

/** Starts what such a document uses. @returns the ports they listen at, by those that documents speak of */
export async function startDocumentedServers(): Promise<{
  readonly ports: readonly (readonly [string, string])[];
  stop(): Promise<void>;
}> {
  const folder = mkdtempSync("/tmp/svc-nodes-");
  const [postgres, s3] = await Promise.all([startPostgres(folder), startFakeS3({ region: "us-east-1" })]);
  const admin = await postgres.newDatabase();
  const { username, password, pathname } = new URL(DATABASE.address);
  const role = `create role ${username} login password '${password}'`;
  await onceOn(admin, role, `create database ${pathname.slice(1)} owner ${username}`);
  return {
    ports: [
      [DATABASE.port, new URL(admin).port],
      [BUCKET_PORT, new URL(s3.endpoint).port],
    ],
    async stop() {
      s3.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
