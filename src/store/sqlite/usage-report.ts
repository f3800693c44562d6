import type { Database } from "bun:sqlite";
import type { AccountId } from "../../domain/ids.ts";
import { toMicros } from "../../domain/money/money.ts";
import type { UsageLine, UsageQuery } from "../../domain/ports/usage-store.ts";

type Totals = Omit<UsageLine, "cost" | "chargedAtCost" | "resubmitted">;
type Spent = Pick<UsageLine, "keyId" | "model" | "day"> & { readonly cost: number; readonly charged: number };
type Repeated = Pick<UsageLine, "keyId" | "model" | "day"> & { readonly count: number };
type Range = [account: AccountId | null, from: number, to: number];

const COLUMNS = { key: "account_id as accountId, key_id as keyId", model: "model", day: "day" } as const;

/** The body of `UsageStore.report`. */
export function prepareUsageReport(db: Database): (query: UsageQuery) => UsageLine[] {
  const statements = { key: prepare("key"), model: prepare("model"), day: prepare("day") };

  function prepare(by: UsageQuery["by"]) {
    const columns = COLUMNS[by];
    const places = by === "key" ? "1, 2" : "1";
    const lines = db.prepare<Totals, Range>(
      `select ${columns}, sum(completed) as completed, sum(failed) as failed, sum(cancelled) as cancelled,
         sum(outputs) as outputs, sum(charged_micros) as charged
       from usage_day where (?1 is null or account_id = ?1) and day between ?2 and ?3
       group by ${places} order by ${places}`,
    );
    // Sums the attempts of a task first, so that its charge counts once.
    const costs = db.prepare<Spent, Range>(
      `select ${columns}, sum(cost) as cost, sum(charged) as charged from (
         select account_id, key_id, model, completed_at / 86400000 as day, charged_micros as charged, cost
         from (select task_id, sum(cost_micros) as cost from attempt where cost_micros is not null group by task_id) as spent
         cross join task on task.id = spent.task_id
         where stage = 'terminal' and (?1 is null or account_id = ?1))
       where day between ?2 and ?3 group by ${places}`,
    );
    const repeats = db.prepare<Repeated, Range>(
      `select ${columns}, count(*) as count from (
         select account_id, key_id, model, completed_at / 86400000 as day
         from attempt cross join task on task.id = attempt.task_id
         where attempt.state = 'ambiguous' and attempt.sequence < task.attempts and stage = 'terminal'
           and (?1 is null or account_id = ?1))
       where day between ?2 and ?3 group by ${places}`,
    );
    return { lines, costs, repeats };
  }

  return ({ accountId, from, to, by }) => {
    const { lines, costs, repeats } = statements[by];
    const range: Range = [accountId ?? null, from, to];
    const spent = new Map(costs.all(...range).map((row) => [nameOf(row), row]));
    const repeated = new Map(repeats.all(...range).map((row) => [nameOf(row), row.count]));
    return lines.all(...range).map((row) => {
      const known = spent.get(nameOf(row));
      const resubmitted = repeated.get(nameOf(row));
      return {
        ...row,
        charged: toMicros(row.charged),
        cost: known && toMicros(known.cost),
        chargedAtCost: known && toMicros(known.charged),
        ...(resubmitted !== undefined && { resubmitted }),
      };
    });
  };
}

function nameOf({ keyId, model, day }: Pick<UsageLine, "keyId" | "model" | "day">) {
  return keyId ?? model ?? day;
}
