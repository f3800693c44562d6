import { statSync } from "node:fs";
import { join } from "node:path";
import type { PacedKind, PacedPlan, PacedResult } from "../load/paced-plan.ts";
import { copyFinished } from "../run/finished-tasks.ts";
import { track } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { createToken, holdSlot, ORDINARY, type Service, startService } from "../run/service.ts";
import type { Bench } from "./bench.ts";
import { readOverAndOver } from "./report-readers.ts";

const TASKS = 1_000_000;
const MOST_MS = 20;
/** What the creates write while two audits last. */
const MOST_LOG_MB = 100;
/** Of each kind of request: together less than a fifth of what the service can. */
const PER_SECOND = 100;
const FOR_MS = 12_000;
const WARM_UP_MS = 3_000;

/**
 * What callers notice of an operator who lists tasks, has the books audited by another process and reads a report of usage, all of them
 * over and over, with a million finished tasks. Everything shares all cores.
 */
export const besideReports: Bench = async (context) => {
  await using resources = new Resources();
  const count = context.scaled(TASKS);
  const { folder, tasks } = copyFinished(context, { count, name: "svc" });
  const token = await createToken(folder, "operator");
  const service = await resources.open(startService(folder, { core: "any", concurrency: 1 }));
  const slot = await holdSlot(service);
  const kinds = await kindsOf(service, tasks);
  const ask = (ms: number) => askPaced({ port: service.port, kinds, perSecond: PER_SECOND, ms });
  await ask(WARM_UP_MS);
  const quiet: PacedResult[][] = [];
  const beside: PacedResult[][] = [];
  const read: string[] = [];
  const logMb: number[] = [];
  for (let round = 0; round < Math.min(3, context.rounds); round++) {
    quiet.push(await ask(FOR_MS));
    const readers = readOverAndOver(service, token);
    try {
      // What the readers begin with is no part of it.
      await Bun.sleep(WARM_UP_MS);
      beside.push(await ask(FOR_MS));
      logMb.push(statSync(`${folder.database}-wal`).size / 1e6);
    } finally {
      read.push(await readers.stop());
    }
  }
  await slot.requireHeld();
  const log = measurement({
    name: "log of the database beside reports, before it is copied",
    unit: "MB",
    values: logMb,
    target: { kind: "most", value: MOST_LOG_MB },
    note: "while a report reads, what is committed stays in the log",
  });
  const latencies = kinds.map(({ name }, i): Measurement => {
    const of = (results: PacedResult[][]) => results.flatMap((each) => each[i]?.p99Ms ?? []);
    const mostMs = Math.max(...beside.map((each) => each[i]?.mostMs ?? 0));
    return measurement({
      name: `${name}, p99 beside reports, ${count.toLocaleString("en-US")} finished tasks`,
      unit: "ms",
      values: of(beside),
      baseline: { name: "without reports", values: of(quiet) },
      target: { kind: "most", value: MOST_MS },
      note: `at most ${mostMs.toFixed(0)} ms${i > 0 ? "" : `; ${PER_SECOND} of each kind a second, timed from when they were due; beside ${read.at(-1)} in ${(WARM_UP_MS + FOR_MS) / 1000} seconds`}`,
    });
  });
  return [...latencies, log];
};

async function kindsOf({ port, folder }: Service, tasks: readonly string[]): Promise<PacedKind[]> {
  const headers = { Authorization: `Bearer ${folder.unlimitedKey}`, "Content-Type": "application/json" };
  const get = (name: string, paths: readonly string[]) => ({ name, method: "GET", paths, headers }) as const;
  const create = {
    method: "POST",
    paths: ["/v1/images/generations"],
    body: JSON.stringify(ORDINARY),
  } as const;
  const prepaid = { ...headers, Authorization: `Bearer ${folder.prepaidKey}` };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/images/status/${tasks[0]}`, { headers });
  const { data } = (await answer.json()) as { data: { result: string[] } };
  const file = new URL(data.result[0] ?? "").pathname;
  return [
    { name: "creates", ...create, headers },
    { name: "creates, prepaid, with a fresh Idempotency-Key", ...create, headers: prepaid, isKeyed: true },
    get(
      "status reads, at random",
      tasks.map((task) => `/v1/images/status/${task}`),
    ),
    get("lists", ["/v1/tasks", "/v1/tasks?status=failed", "/v1/tasks?kind=image&limit=100"]),
    get("account status", ["/v1/account/status"]),
    get("asset reads", [file]),
  ];
}

async function askPaced(plan: PacedPlan): Promise<PacedResult[]> {
  const program = join(import.meta.dir, "../load/paced.ts");
  const child = track(
    Bun.spawn([process.execPath, program], {
      stdin: Buffer.from(JSON.stringify(plan)),
      stdout: "pipe",
      stderr: "inherit",
    }),
  );
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("The requests failed.");
  // The program is of the same version.
  return JSON.parse(text) as PacedResult[];
}
