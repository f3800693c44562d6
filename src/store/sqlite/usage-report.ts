import type { Database } from "bun:sqlite";
import type { AccountId, KeyId, ModelId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { UsageLine, UsageQuery } from "../../domain/ports/usage-store.ts";

interface Group {
  readonly account_id?: AccountId;
  readonly key_id?: KeyId;
  readonly model?: ModelId;
  readonly day?: number;
}

interface LineRow extends Group {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly outputs: number;
  readonly charged: number;
}

interface CostRow extends Group {
  readonly cost: number;
  readonly charged: number;
}

type Range = [account: AccountId | null, from: number, to: number];

const COLUMNS = { key: "account_id, key_id", model: "model", day: "day" } as const;

/** The body of `UsageStore.report`. */
export function prepareUsageReport(db: Database): (query: UsageQuery) => UsageLine[] {
  const statements = { key: prepare("key"), model: prepare("model"), day: prepare("day") };

  function prepare(by: UsageQuery["by"]) {
    const columns = COLUMNS[by];
    const lines = db.prepare<LineRow, Range>(
      `select ${columns}, sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
         sum(outputs) as outputs, sum(charged_micros) as charged
       from usage_day where (?1 is null or account_id = ?1) and day between ?2 and ?3
       group by ${columns} order by ${columns}`,
    );
    // Sums the attempts of a task first, so that its charge counts once.
    const costs = db.prepare<CostRow, Range>(
      `select ${columns}, sum(cost) as cost, sum(charged) as charged from (
         select account_id, key_id, model, completed_at / 86400000 as day, charged_micros as charged, cost
         from (select task_id, sum(cost_micros) as cost from attempt where cost_micros is not null group by task_id) as spent
         cross join task on task.id = spent.task_id
         where stage = 'terminal' and (?1 is null or account_id = ?1))
       where day between ?2 and ?3 group by ${columns}`,
    );
    return { lines, costs };
  }

  return ({ accountId, from, to, by }) => {
    const { lines, costs } = statements[by];
    const range: Range = [accountId ?? null, from, to];
    const spent = new Map(costs.all(...range).map((row) => [nameOf(row), row]));
    return lines.all(...range).map((row) => toLine(row, spent.get(nameOf(row))));
  };
}

function nameOf({ key_id, model, day }: Group): string | number | undefined {
  return key_id ?? model ?? day;
}

function toLine(row: LineRow, spent: CostRow | undefined): UsageLine {
  return {
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    day: row.day,
    completed: row.completed,
    failed: row.failed,
    cancelled: row.cancelled,
    outputs: row.outputs,
    charged: toMicros(row.charged),
    cost: spent && toMicros(spent.cost),
    chargedAtCost: spent && toMicros(spent.charged),
  };
}
