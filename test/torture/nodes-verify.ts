import { SQL } from "bun";
import { cleanEnvironment, SVC } from "../helpers/server.ts";
import { send } from "./client.ts";
import type { Findings } from "./findings.ts";
import type { Bought } from "./nodes-buyers.ts";
import type { Fleet } from "./nodes-fleet.ts";

const END_WITHIN_MS = 120_000;

interface TaskRow {
  readonly id: string;
  readonly status: string;
  readonly accepted: number;
  readonly captures: number;
}

/** Verifies that every accepted task is complete, was made once and charged once, and that the books add up. */
export async function verifyNodes(run: {
  readonly url: string;
  readonly fleet: Fleet;
  readonly bought: Bought;
  readonly findings: Findings;
}): Promise<void> {
  const { url, fleet, bought, findings } = run;
  for (const wrong of bought.wrong) findings.add(wrong);
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
  await everyFileIsThere(fleet, bought, findings);
  const audit = Bun.spawnSync([SVC, "audit", "--data-dir", fleet.dataDir()], {
    env: cleanEnvironment({ SVC_DATABASE: url }),
  });
  findings.check(
    audit.exitCode === 0,
    () => `svc audit: ${audit.stdout.toString()}${audit.stderr.toString()}`,
  );
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
async function everyFileIsThere(fleet: Fleet, { tasks }: Bought, findings: Findings): Promise<void> {
  const origins = fleet.origins();
  let turn = 0;
  for (const [name, id] of tasks) {
    const origin = origins[turn++ % origins.length] ?? "";
    const status = await send(origin, { path: `/v1/tasks/${id}`, key: fleet.firstKey() });
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
