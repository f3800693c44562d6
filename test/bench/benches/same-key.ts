import { Database } from "bun:sqlite";
import { join } from "node:path";
import { postAtOnce } from "../../helpers/at-once.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type Service, SMALLEST, startService, TINY } from "../run/service.ts";
import type { Bench } from "./bench.ts";

const CREATES = 1_000;

/** A thousand creates at once with one idempotency key: how long until all are answered, connecting included. */
export const sameKey: Bench = async (context) => {
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  const before = countTasks(folder.database);
  const service = await resources.open(startService(folder));
  await createAtOnce(service, "warm-up");
  const elapsed: number[] = [];
  for (let round = 0; round < context.rounds; round++) {
    elapsed.push(await createAtOnce(service, `round-${round}`));
  }
  const made = countTasks(folder.database) - before;
  if (made !== context.rounds + 1) throw new Error(`${context.rounds + 1} keys made ${made} tasks.`);
  return [
    measurement({
      name: `${CREATES.toLocaleString("en")} creates at once with one Idempotency-Key`,
      unit: "ms",
      values: elapsed,
      renders: SMALLEST,
      note: "one task each time; every answer was that task or 409 idempotency_in_progress",
    }),
  ];
};

function countTasks(database: string): number {
  using db = new Database(database, { readonly: true });
  return db.query<{ count: number }, []>("select count(*) as count from task").get()?.count ?? 0;
}

/** @returns how long it took. @throws Error for an answer that is neither the one task nor that it is being made */
async function createAtOnce({ port, folder }: Service, key: string): Promise<number> {
  const startedAt = performance.now();
  const headers = { Authorization: `Bearer ${folder.unlimitedKey}`, "Idempotency-Key": key };
  const twins = Array.from({ length: CREATES }, () => ({ headers, body: TINY }));
  const answers = await postAtOnce(port, "/v1/images/generations", twins);
  const elapsedMs = performance.now() - startedAt;
  const accepted = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body));
  const other = answers.find(
    ({ status, body }) => status !== 200 && !(status === 409 && body.includes("idempotency_in_progress")),
  );
  if (accepted.size !== 1 || other !== undefined) {
    throw new Error(`${key}: ${accepted.size} different tasks; ${other?.status} ${other?.body}`);
  }
  return elapsedMs;
}
