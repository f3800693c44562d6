import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { filesBelow } from "./files.ts";
import type { Findings } from "./findings.ts";

export interface UpstreamTally {
  readonly operations: number;
  readonly refusals: number;
  readonly files: number;
}

/** The sandbox's own memory: what it was really asked to do. */
export function checkUpstream(dataDir: string, service: Database, findings: Findings): UpstreamTally {
  const file = join(dataDir, "sandbox", "upstream.db");
  if (!existsSync(file)) {
    findings.add(`There is no ${file}.`);
    return { operations: 0, refusals: 0, files: 0 };
  }
  using db = new Database(file, { strict: true });
  const integrity = db
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
    .get()?.integrity_check;
  findings.check(integrity === "ok", () => `upstream.db: integrity_check says ${integrity}`);

  const operations = db
    .query<{ id: string; attempt: string; task_id: string; submissions: number }, []>(
      "SELECT id, attempt, task_id, submissions FROM operation",
    )
    .all();
  for (const { id, task_id, submissions } of operations) {
    findings.check(
      submissions === 1,
      () => `operation ${id} of ${task_id} was submitted ${submissions} times`,
    );
  }
  for (const [task, same] of Map.groupBy(operations, ({ task_id }) => task_id)) {
    findings.check(
      same.length === 1,
      () =>
        `${task} has ${same.length} operations upstream: ${same.map(({ attempt }) => attempt).join(", ")}`,
    );
  }

  const attempts = service
    .query<{ id: string; task_id: string; state: string; operation: string | null }, []>(
      "SELECT id, task_id, state, operation FROM attempt",
    )
    .all();
  const known = new Map(operations.map((operation) => [operation.attempt, operation]));
  for (const { id, task_id, state, operation } of attempts) {
    const upstream = known.get(id);
    known.delete(id);
    findings.check(
      state !== "rejected" || upstream === undefined,
      () => `attempt ${id} of ${task_id} counts as rejected, but the upstream has it`,
    );
    findings.check(
      operation === null || (upstream !== undefined && operation.includes(upstream.id)),
      () => `attempt ${id} of ${task_id} has ${operation}, the upstream knows ${upstream?.id}`,
    );
  }
  findings.check(
    known.size === 0,
    () => `the upstream has ${known.size} attempts that are not stored, the first ${[...known.keys()][0]}`,
  );

  const refusals =
    db.query<{ total: number }, []>("SELECT total(failures) AS total FROM refusal").get()?.total ?? 0;
  return { operations: operations.length, refusals, files: checkFolder(dataDir, db, findings) };
}

/** Every file belongs to an operation whose files are still kept, and none is half made. */
function checkFolder(dataDir: string, db: Database, findings: Findings): number {
  const kept = new Set(
    db
      .query<{ id: string }, []>("SELECT id FROM operation WHERE files_kept = 1")
      .all()
      .map(({ id }) => id),
  );
  const files = filesBelow(join(dataDir, "sandbox", "files"));
  const strays = files.filter((file) => !kept.has(basename(file).split(".")[0] ?? ""));
  findings.check(
    strays.length === 0,
    () => `${strays.length} upstream files belong to no operation, the first ${strays[0]}`,
  );
  return files.length;
}
