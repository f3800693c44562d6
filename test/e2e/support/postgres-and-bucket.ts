import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { type FakeS3, startFakeS3 } from "../../helpers/fake-s3.ts";
import { stopServers } from "../../helpers/server.ts";
import { type DatabaseServer, startPostgres } from "../../moving/database-servers.ts";

/** Starts what nodes share before the tests of a group. Stops it after them, once all servers have ended. */
export function usePostgresAndBucket(): { readonly postgres: DatabaseServer; readonly s3: FakeS3 } {
  const started = {} as { postgres: DatabaseServer; s3: FakeS3 };
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-nodes-");
    started.postgres = await startPostgres(folder);
    started.s3 = await startFakeS3();
  });
  afterAll(async () => {
    await stopServers();
    started.s3.stop();
    await started.postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return started;
}
