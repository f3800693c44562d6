import { SQL } from "bun";
import { svc } from "../e2e/support/command.ts";
import { send } from "./client.ts";
import type { Findings } from "./findings.ts";
import type { Bought } from "./nodes-buyers.ts";
import type { Fleet } from "./nodes-fleet.ts";
import type { openReceiver } from "./nodes-receiver.ts";
import type { createWatchers } from "./nodes-watchers.ts";

const END_WITHIN_MS = 120_000;
/** Once all tasks have ended: callbacks that were refused come again after some seconds. */
const TOLD_WITHIN_MS = 60_000;

interface TaskRow {
  readonly id: string;
  readonly status: string;
  readonly accepted: number;
  readonly captures: number;
}

export interface NodesRun {
  readonly url: string;
  readonly fleet: Fleet;
  /** Of the account that bought. */
  readonly key: string;
  readonly bought: Bought;
  readonly watchers: ReturnType<typeof createWatchers>;
  readonly receiver: ReturnType<typeof openReceiver>;
  readonly findings: Findings;
}

/**
 * Verifies that every accepted task is complete, was made once and charged once, that its events and its callback came, and that the books
 * add up.
 */
export async function verifyNodes(run: NodesRun) {
  const { url, fleet, bought, findings } = run;
  for (const wrong of bought.wrong) findings.add(wrong);
  await everyTaskIsOnce(run);
  await everyFileIsThere(run);
  const told = await everyEndIsTold(run);
  // Not in a way that waits in this process, which hands on what goes to the database.
  const audit = await svc(["audit", "--data-dir", fleet.dataDir()], { env: { SVC_DATABASE: url } });
  findings.check(audit.exitCode === 0, () => `svc audit: ${audit.stdout}${audit.stderr}`);
  return told;
}

async function everyTaskIsOnce({ url, bought, findings }: NodesRun): Promise<void> {
  const sql = new SQL({ url, max: 1 });
  try {
    await ended(sql, findings);
    const rows: TaskRow[] = await sql`
      select task.id, task.status,
        (select count(*)::int from attempt where task_number = task.number and accepted_at is not null) as accepted,
        (select count(*)::int from ledger_entry where task_number = task.number and kind = 'capture') as captures
      from task`;
    const known = new Set(bought.tasks.values());
    findings.check(
      rows.length === known.size,
      () => `There are ${rows.length} tasks, and ${known.size} were accepted`,
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const [name, id] of bought.tasks) {
      const row = found.get(id);
      findings.check(row !== undefined, () => `${name} (${id}) is lost`);
      if (row === undefined) continue;
      findings.check(row.status === "completed", () => `${name} (${id}) is ${row.status}`);
      findings.check(row.accepted <= 1, () => `${name} (${id}) was accepted ${row.accepted} times`);
      findings.check(row.captures === 1, () => `${name} (${id}) was charged ${row.captures} times`);
    }
  } finally {
    await sql.close();
  }
}

async function ended(sql: SQL, findings: Findings): Promise<void> {
  const until = performance.now() + END_WITHIN_MS;
  for (;;) {
    const [row] = await sql`select count(*)::int as live from task where pool is not null`;
    if (row?.live === 0) return;
    if (performance.now() > until) return findings.add(`${row?.live} tasks do not end`);
    await Bun.sleep(200);
  }
}

/** Asks another node for each file than made it, most likely. */
async function everyFileIsThere({ fleet, key, bought, findings }: NodesRun): Promise<void> {
  const origins = fleet.origins();
  let turn = 0;
  for (const [name, id] of bought.tasks) {
    const origin = origins[turn++ % origins.length] ?? "";
    const status = await send(origin, { path: `/v1/tasks/${id}`, key });
    const results = Array.isArray(status?.data.result) ? status.data.result : [];
    findings.check(results.length === 1, () => `${name} (${id}) has ${results.length} results`);
    for (const result of results) {
      const path = new URL(String(result)).pathname;
      const answer = await fetch(origin + path);
      findings.check(answer.status === 200, () => `${name}: ${path} is answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  }
}

/** Each follower was told each end, in order, and each callback came at least once, signed. */
async function everyEndIsTold({ bought, watchers, receiver, findings }: NodesRun) {
  const watched = await watchers.end(bought.tasks.values(), TOLD_WITHIN_MS);
  for (const { states, wrong } of watched) {
    for (const text of wrong) findings.add(text);
    for (const id of bought.tasks.values())
      findings.check(states.get(id) === "completed", () => `of ${id} was last told ${states.get(id)}`);
  }
  const until = performance.now() + TOLD_WITHIN_MS;
  const missing = () => [...bought.tasks.values()].filter((id) => !receiver.received().taken.has(id));
  while (missing().length > 0 && performance.now() < until) await Bun.sleep(200);
  for (const id of missing()) findings.add(`no callback of ${id} came`);
  const { wrong, refused, taken } = receiver.received();
  for (const text of wrong) findings.add(text);
  const total = (pick: (of: (typeof watched)[number]) => number) =>
    watched.reduce((sum, each) => sum + pick(each), 0);
  return {
    told: total(({ events }) => events),
    connections: total(({ connections }) => connections),
    callbacks: [...taken.values()].reduce((sum, count) => sum + count, 0),
    refused,
  };
}
