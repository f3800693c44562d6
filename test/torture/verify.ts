import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { isJsonObject } from "../../src/domain/json.ts";
import { send } from "./client.ts";
import type { Findings } from "./findings.ts";
import type { Caller, Creation, Load } from "./load.ts";

const WAIT_SEC = 30;
/** Reads of one task while the rest is let run to its end. */
const TRIES = 6;
const AT_ONCE = 16;
/** Of an account's tasks that still live then; each waits for one of them. */
const LOOKS = 100;

/** How a task reads through the API once everything has come to rest. */
export interface Ended {
  readonly status: string;
  /** SHA-256 of what each result URL gave. */
  readonly results: readonly string[];
}

export interface Tally {
  accepted: number;
  completed: number;
  failed: number;
  cancelled: number;
  refused: number;
  lost: number;
  replayed: number;
}

export function tallyOf(creations: readonly Creation[], ends: ReadonlyMap<string, Ended>): Tally {
  const tally: Tally = {
    accepted: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    refused: 0,
    lost: 0,
    replayed: 0,
  };
  for (const { outcome } of creations) {
    tally[outcome.kind]++;
    if (outcome.kind !== "accepted") continue;
    if (outcome.replayed) tally.replayed++;
    const status = ends.get(outcome.taskId)?.status;
    if (status === "completed" || status === "failed" || status === "cancelled") tally[status]++;
  }
  return tally;
}

/** Waits for every accepted task, reads its results, and compares its end with the rehearsed one. */
export async function checkThroughApi(
  origin: string,
  options: { callers: readonly Caller[]; load: Load; findings: Findings },
): Promise<Map<string, Ended>> {
  const { callers, load, findings } = options;
  const ends = new Map<string, Ended>();
  const left = load.creations.filter(({ outcome }) => outcome.kind === "accepted");
  const worker = async () => {
    for (let creation = left.pop(); creation !== undefined; creation = left.pop()) {
      const key = callers.find(({ account }) => account === creation?.account)?.key ?? "";
      await checkTask(origin, { key, creation, ends, findings });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await Promise.all(callers.map(({ key }) => untilNothingLives(origin, { key, findings })));
  return ends;
}

/** Waits for the tasks of creates whose answer was lost: nobody knows their ids. */
async function untilNothingLives(origin: string, to: { key: string; findings: Findings }): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const path =
      (await pathOfLive(origin, to.key, "pending")) ?? (await pathOfLive(origin, to.key, "processing"));
    if (path === undefined) return;
    await send(origin, { path: `${path}?wait=${WAIT_SEC}`, key: to.key });
  }
  to.findings.add(`an account still has tasks that did not end, after ${LOOKS} looks`);
}

/** Where the status of the latest task in a status is read. */
async function pathOfLive(origin: string, key: string, status: string): Promise<string | undefined> {
  const answer = await send(origin, { path: `/v1/tasks?status=${status}&limit=1`, key });
  const [task] = Array.isArray(answer?.data.tasks) ? answer.data.tasks : [];
  return isJsonObject(task) ? `/v1/${task.kind}s/status/${task.task_id}` : undefined;
}

async function checkTask(
  origin: string,
  to: { key: string; creation: Creation; ends: Map<string, Ended>; findings: Findings },
): Promise<void> {
  const { creation, findings, key } = to;
  const { rehearsal, outcome } = creation;
  if (outcome.kind !== "accepted") return;
  const name = `${rehearsal.marker} (${outcome.taskId})`;
  const path = `/v1/${rehearsal.kind}s/status/${outcome.taskId}?wait=${WAIT_SEC}`;
  let status = "";
  for (let tries = 0; tries < TRIES && !["completed", "failed", "cancelled"].includes(status); tries++) {
    const answer = await send(origin, { path, key });
    if (answer?.status !== 200) {
      findings.add(
        `${name} was accepted and reads as ${answer?.status ?? "no answer"} ${JSON.stringify(answer?.body ?? {})}`,
      );
      return;
    }
    const { data } = answer;
    status = String(data.status);
    if (status === "completed") {
      const urls = Array.isArray(data.result) ? data.result.map(String) : [];
      to.ends.set(outcome.taskId, { status, results: await hashesOf(urls, name, findings) });
    } else if (status === "failed" || status === "cancelled") {
      to.ends.set(outcome.taskId, { status, results: [] });
    }
    if (status === "failed" && rehearsal.ends === "failed") {
      findings.check(
        data.error_code === rehearsal.errorCode,
        () => `${name} failed as ${data.error_code}, rehearsed was ${rehearsal.errorCode}`,
      );
    }
    if (status === "failed" && rehearsal.ends === "completed") {
      findings.add(
        `${name} failed: ${data.error_code} ${data.error_message ?? data.error}; rehearsed: ${JSON.stringify(rehearsal.body.sandbox)}`,
      );
    }
  }
  checkEnd(name, status, creation, to.ends.get(outcome.taskId)?.results.length ?? 0, findings);
}

function checkEnd(
  name: string,
  status: string,
  creation: Creation,
  results: number,
  findings: Findings,
): void {
  const { rehearsal, cancel } = creation;
  if (status === "cancelled") {
    findings.check(
      cancel === "taken" || cancel === "lost",
      () => `${name} is cancelled, but nobody asked for it (${cancel})`,
    );
    return;
  }
  if (status === "failed" && rehearsal.ends === "completed") return;
  findings.check(
    status === rehearsal.ends,
    () => `${name} ended as ${status || "nothing"}, rehearsed was ${rehearsal.ends}`,
  );
  findings.check(
    status !== "completed" || results === rehearsal.outputs,
    () => `${name} has ${results} results, asked for were ${rehearsal.outputs}`,
  );
}

async function hashesOf(urls: readonly string[], name: string, findings: Findings): Promise<string[]> {
  const hashes: string[] = [];
  for (const url of urls) {
    const response = await fetch(url, { keepalive: false }).catch(() => undefined);
    if (response?.status !== 200) findings.add(`${name}: ${url} answers ${response?.status ?? "nothing"}`);
    else
      hashes.push(
        createHash("sha256")
          .update(new Uint8Array(await response.arrayBuffer()))
          .digest("hex"),
      );
  }
  return hashes;
}

/** Compares what clients were told with what is stored. */
export function checkStored(
  db: Database,
  told: { load: Load; ends: ReadonlyMap<string, Ended> },
  findings: Findings,
): void {
  const live = db
    .query<{ id: string; stage: string }, []>("SELECT id, stage FROM task WHERE stage <> 'terminal'")
    .all();
  findings.check(
    live.length === 0,
    () => `${live.length} tasks have not ended, the first ${JSON.stringify(live[0])}`,
  );
  const held = db.query<{ held: number }, []>("SELECT total(held_micros) AS held FROM account").get()?.held;
  findings.check(held === 0, () => `${held} micros are still held`);

  const tasks = db
    .query<{ id: string; marker: string }, []>(
      "SELECT id, json_extract(request, '$.prompt') AS marker FROM task",
    )
    .all();
  const byMarker = Map.groupBy(tasks, ({ marker }) => marker);
  for (const { rehearsal, outcome } of told.load.creations) {
    const ids = (byMarker.get(rehearsal.marker) ?? []).map(({ id }) => id);
    byMarker.delete(rehearsal.marker);
    const expected =
      outcome.kind === "accepted" ? ids.length === 1 && ids[0] === outcome.taskId : ids.length === 0;
    const isOpen = outcome.kind === "lost" && rehearsal.idempotencyKey === undefined && ids.length <= 1;
    findings.check(
      expected || isOpen,
      () =>
        `${rehearsal.marker}: the client knows ${JSON.stringify(outcome)}, stored is ${JSON.stringify(ids)}`,
    );
  }
  findings.check(
    byMarker.size === 0,
    () => `${byMarker.size} stored tasks were asked for by nobody, the first ${[...byMarker.keys()][0]}`,
  );

  const files = db
    .query<{ task_id: string; sha256: string }, []>(
      "SELECT task_id, sha256 FROM asset WHERE role = 'output' ORDER BY task_id, position",
    )
    .all();
  const hashes = Map.groupBy(files, ({ task_id }) => task_id);
  for (const [id, { results }] of told.ends) {
    const stored = (hashes.get(id) ?? []).map(({ sha256 }) => sha256);
    findings.check(
      stored.join() === results.join(),
      () => `${id}: its URLs gave ${JSON.stringify(results)}, stored is ${JSON.stringify(stored)}`,
    );
  }
}
