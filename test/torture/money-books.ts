import type { Database } from "bun:sqlite";
import { isJsonObject } from "../../src/domain/json.ts";
import { formatAmount, type Micros, parseAmount, sumMicros, toMicros } from "../../src/domain/money/money.ts";
import { send } from "./client.ts";
import type { Findings } from "./findings.ts";
import type { Load } from "./load.ts";
import type { Operator } from "./money-operator.ts";
import type { Purse } from "./money-purse.ts";
import { readBalance } from "./money-spending.ts";

/** What clients and operator were told comes to what the account says it has. */
export async function checkTold(
  origin: string,
  told: { purse: Purse; load: Load; operator: Operator; findings: Findings },
): Promise<{ captured: Micros; refunded: Micros }> {
  const { purse, load, operator, findings } = told;
  const costs = await costsOf(origin, told);
  for (const { outcome, rehearsal } of load.creations) {
    if (outcome.kind !== "accepted") continue;
    const [held, charged] = [parseAmount(outcome.cost ?? ""), costs.get(outcome.taskId)];
    findings.check(
      held !== undefined && charged !== undefined && charged <= held,
      () => `${rehearsal.marker}: ${outcome.cost} was held, ${charged} micros were charged`,
    );
  }
  const captured = sumMicros([...costs.values()]);
  const refunded = sumMicros(
    operator.refunds.map(({ taskId, amount }) => amount ?? costs.get(taskId) ?? toMicros(0)),
  );
  const expected = toMicros(operator.credited() - captured + refunded);
  const balance = await readBalance(origin, purse.openKey);
  findings.check(
    balance?.total === expected && balance.reserved === 0,
    () =>
      `the account says ${JSON.stringify(balance)}; ${operator.credited()} credited − ${captured} charged + ${refunded} refunded = ${expected}`,
  );
  for (const { name, key, limit } of purse.quotaKeys) {
    const quota = (await readBalance(origin, key))?.quota;
    findings.check(
      quota !== undefined && quota.reserved === 0 && quota.used <= limit,
      () => `the key ${name} says ${JSON.stringify(quota)}, and was never allowed more than ${limit} micros`,
    );
  }
  return { captured, refunded };
}

/** What every task of the account was charged, by its own list; those are in it of which no client was told. */
async function costsOf(origin: string, { purse }: { purse: Purse }): Promise<Map<string, Micros>> {
  const costs = new Map<string, Micros>();
  let after = "";
  for (;;) {
    const answer = await send(origin, { path: `/v1/tasks?limit=100${after}`, key: purse.openKey });
    const { tasks, next } = answer?.data ?? {};
    if (!Array.isArray(tasks)) throw new Error(`The tasks cannot be listed: ${answer?.status}.`);
    for (const task of tasks.filter(isJsonObject)) {
      const cost = isJsonObject(task.usage) ? parseAmount(String(task.usage.cost)) : undefined;
      if (cost !== undefined) costs.set(String(task.task_id), cost);
    }
    if (typeof next !== "string") return costs;
    after = `&after=${next}`;
  }
}

interface TaskRow {
  readonly id: string;
  readonly key_name: string;
  readonly status: string;
  readonly held_micros: number;
  readonly charged_micros: number | null;
  readonly quote: string;
  readonly outputs: number;
}

/** Each task's hold and charge follow from the price it was promised, and those of a key come to its quota. */
export function checkBooks(
  db: Database,
  { purse, load, findings }: { purse: Purse; load: Load; findings: Findings },
): void {
  const tasks = db
    .query<TaskRow, []>(
      `SELECT t.id, k.name AS key_name, t.status, t.held_micros, t.charged_micros, t.quote,
         (SELECT count(*) FROM asset a WHERE a.task_id = t.id AND a.role = 'output') AS outputs
       FROM task t JOIN api_key k ON k.id = t.key_id`,
    )
    .all();
  const told = new Map(
    load.creations.flatMap(({ outcome }) =>
      outcome.kind === "accepted" ? [[outcome.taskId, outcome.cost] as const] : [],
    ),
  );
  for (const task of tasks) {
    const held = formatAmount(toMicros(task.held_micros));
    const cost = told.get(task.id);
    findings.check(
      cost === undefined || cost === held,
      () => `${task.id}: ${cost} was told, ${held} is held`,
    );
    const due = dueFor(task);
    findings.check(
      due.held === task.held_micros && due.charged === (task.charged_micros ?? 0),
      () => `${task.id}: ${JSON.stringify(due)} is due, stored is ${JSON.stringify(task)}`,
    );
  }
  const used = db.query<{ used: number }, [key: string]>(
    "SELECT total(used_micros) AS used FROM key_quota q JOIN api_key k ON k.id = q.key_id WHERE k.name = ?",
  );
  for (const [name, own] of Map.groupBy(tasks, ({ key_name }) => key_name)) {
    if (!purse.quotaKeys.some((key) => key.name === name)) continue;
    const charged = own.reduce((sum, task) => sum + (task.charged_micros ?? 0), 0);
    const stored = used.get(name)?.used;
    findings.check(
      stored === charged,
      () => `the quota of ${name} has ${stored} micros used, its tasks ${charged}`,
    );
  }
}

interface Promised {
  readonly outputs: number;
  readonly multiplier?: number;
  readonly minimum?: number;
  readonly lines: readonly { unit: string; unitMicros: number; per?: number; perOutput: number }[];
}

/** Hold and charge by plain arithmetic. Every picture of a round is less than a megapixel, and the sandbox counts no tokens. */
function dueFor({ quote, status, outputs }: TaskRow): { held: number; charged: number } {
  const promised: Promised = JSON.parse(quote);
  const { multiplier = 1_000_000, minimum = 0 } = promised;
  const sum = (units: (line: Promised["lines"][number]) => number) => {
    const amounts = promised.lines.map((line) => {
      const product = BigInt(line.unitMicros) * BigInt(units(line)) * BigInt(multiplier);
      const divisor = BigInt(line.per ?? 1) * 1_000_000n;
      return Number(product / divisor + (product % divisor === 0n ? 0n : 1n));
    });
    return Math.max(
      minimum,
      amounts.reduce((total, amount) => total + amount, 0),
    );
  };
  const held = sum((line) => line.perOutput * promised.outputs);
  const charged = sum((line) => (line.unit === "output_token" ? line.perOutput : 1) * outputs);
  return { held, charged: status === "completed" ? charged : 0 };
}

/** The last line of defence, whatever the program does: the database takes no second entry of a kind for a task. */
export function checkLastDefence(db: Database, findings: Findings): void {
  const again = db.query(
    `INSERT INTO main.ledger_entry (account_number, task_number, kind, balance_delta_micros, held_delta_micros, reason_label, at, actor_label)
     SELECT account_number, task_number, kind, balance_delta_micros, held_delta_micros, reason_label, at, actor_label
     FROM main.ledger_entry WHERE task_number IS NOT NULL AND kind = ? LIMIT 1`,
  );
  db.run("BEGIN IMMEDIATE");
  for (const kind of ["hold", "capture", "release", "refund"]) {
    let written = 0;
    try {
      written = again.run(kind).changes;
    } catch {
      // As it must be.
    }
    findings.check(written === 0, () => `the database took a second ${kind} for a task`);
  }
  db.run("ROLLBACK");
}
