import { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/store/sqlite/connection.ts";
import { freePort } from "../helpers/free-port.ts";
import { inWords } from "../helpers/in-words.ts";
import { fillSecondSchema } from "../helpers/second-schema.ts";
import { emptyFolder, type Server, spawnServer } from "../helpers/server.ts";
import { auditIsClean } from "./audit.ts";
import { send } from "./client.ts";
import { checkCommitted } from "./database.ts";
import type { Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import type { DecideEnding } from "./syscalls-killer.ts";

/** What stands in a data folder before the start that is killed. */
export type Beginning = "first start" | "migration";

interface Place {
  readonly folder: string;
  readonly dataDir: string;
  readonly port: number;
  readonly logs: string;
}

/** The tasks of the older data folder by how they must read once it is migrated. */
const OLDER_TASKS = [
  { status: "completed", charged: 40_000 },
  { status: "failed", charged: 0 },
] as const;

/**
 * Ends one start at a system call, starts again in peace, and checks that nothing is lost or half made.
 *
 * @returns whether the call came
 */
export async function killStart(
  beginning: Beginning,
  { dice, decide, findings }: { dice: Dice; decide: DecideEnding; findings: Findings },
): Promise<boolean> {
  const folder = emptyFolder("start");
  const place = {
    folder,
    dataDir: join(folder, "svc-data"),
    port: freePort(),
    logs: emptyFolder("start-log"),
  };
  if (beginning === "migration") prepareOlder(place);
  const { injection, via, end } = decide(dice, place.dataDir, "start");
  const where = `${beginning}, ended at ${injection.call} ${injection.count}`;
  const server = spawnServer({ ...place, via });
  // A server that is killed is never ready.
  const outlived = server.ready().catch(() => server.exited);
  const came = await end(server, outlived);
  await checkNextStart(place, { beginning, where }, findings);
  rmSync(folder, { recursive: true });
  return came;
}

function prepareOlder({ dataDir }: Place): void {
  mkdirSync(dataDir, { mode: 0o700 });
  const db = openDatabase(join(dataDir, "svc.db"));
  fillSecondSchema(db);
  db.stop();
}

async function checkNextStart(
  place: Place,
  { beginning, where }: { beginning: Beginning; where: string },
  findings: Findings,
): Promise<void> {
  const server = spawnServer(place);
  try {
    await server.ready();
    if (beginning === "first start") await checkFirstKey(server, where, findings);
    await auditIsClean(place.dataDir, where, findings);
  } catch (error) {
    findings.add(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const exitCode = await server.stop();
  findings.check(
    exitCode === 0,
    () => `${where}: the next server ended with ${exitCode}: ${server.stderr()}`,
  );
  using db = inWords(new Database(join(place.dataDir, "svc.db"), { strict: true }));
  if (beginning === "first start") checkCommitted(db, where, findings);
  else checkOlderTasks(db, where, findings);
}

/** The key that the service has told opens it, and makes something. */
async function checkFirstKey(server: Server, where: string, findings: Findings): Promise<void> {
  const body = { model: "sandbox-image", prompt: where, size: "16x16", sandbox: { delay_ms: 0 } };
  const created = await send(server.url, { path: "/v1/images/generations", key: server.firstKey(), body });
  const path = `/v1/images/status/${created?.data.task_id}?wait=20`;
  const read = await send(server.url, { path, key: server.firstKey() });
  findings.check(
    read?.data.status === "completed",
    () => `${where}: with the first key: ${JSON.stringify([created?.status, read?.status, read?.body])}`,
  );
}

/** `svc audit` has looked at the books; these tasks are older than some of what `checkCommitted` expects. */
function checkOlderTasks(db: Database, where: string, findings: Findings): void {
  const tasks = db
    .query<{ status: string; charged: number | null }, []>(
      "select status, charged_micros as charged from task order by id",
    )
    .all();
  findings.check(
    tasks.length === OLDER_TASKS.length + 1 &&
      OLDER_TASKS.every((older, index) => Bun.deepEquals(older, tasks[index])),
    () => `${where}: the older tasks read ${JSON.stringify(tasks)}`,
  );
}
