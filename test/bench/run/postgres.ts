import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../helpers/free-port.ts";
import { adminOf, begun, initPostgres, onceOn, postgresCommand } from "../../moving/database-servers.ts";
import { onCore, stopProcess, track } from "./process.ts";
import { type DataFolder, type Service, type ServiceOptions, startService } from "./service.ts";

export interface Database {
  readonly url: string;
  stop(): Promise<void>;
}

/** Nodes of one database seal with the same key. */
const SECRET_KEY = "k".repeat(43);
const NAME = "svc";

/** Starts PostgreSQL, which waits for its disk at each commit, with an empty database. */
export async function startDatabase(): Promise<Database> {
  // Not below a folder of the caller's: the server runs as somebody else.
  const folder = mkdtempSync("/tmp/svc-bench-postgres-");
  const [data, port] = [join(folder, "data"), freePort()];
  await initPostgres(folder, data);
  const command = postgresCommand(folder, data, port).filter((word) => word !== "-F");
  const settings = ["-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"];
  const child = track(await begun(onCore("any", [...command, ...settings]), folder, adminOf(port)));
  await onceOn(adminOf(port), `create database ${NAME}`);
  return {
    url: adminOf(port).replace(/\/[a-z]+$/, `/${NAME}`),
    async stop() {
      child.kill("SIGINT");
      await stopProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a node. The first one of a database makes its key, which others are given. */
export async function startNode(
  at: { readonly folder: DataFolder; readonly url: string; readonly name: string; readonly key?: string },
  { env, ...options }: ServiceOptions,
): Promise<Service> {
  const path = join(at.folder.path, "..", at.name);
  const service = await startService(
    { ...at.folder, path, unlimitedKey: at.key ?? "" },
    {
      core: "any",
      ...options,
      env: {
        ...{ SVC_DATABASE: at.url, SVC_SECRET_KEY: SECRET_KEY, SVC_LOG_REQUESTS: "false" },
        // Whatever waits, nothing is refused.
        SVC_SHED_QUEUE_SECONDS: "2592000",
        ...env,
      },
    },
  );
  if (at.key !== undefined) return service;
  const { key } = JSON.parse(readFileSync(join(path, "bootstrap.json"), "utf8")) as { key: string };
  return { ...service, folder: { ...service.folder, unlimitedKey: key } };
}
