import type { Database } from "bun:sqlite";
import { toMicros } from "../../../domain/money/money.ts";
import type { AuditReport } from "../../../domain/ports/audit.ts";

interface Sums {
  readonly accounts: number;
  readonly balance: number | null;
  readonly held: number | null;
  readonly entries: number;
  readonly credited: number | null;
  readonly captured: number | null;
  readonly refunded: number | null;
  readonly tasks: number;
  readonly live_tasks: number;
  readonly quotas: number;
  readonly usage_days: number;
}

/** Returns a function that counts the rows of an audit and sums up the money. */
export function prepareSums(db: Database): () => Pick<AuditReport, "rows" | "sums"> {
  const all = db.prepare<Sums, []>(
    `select * from (select count(*) as accounts, sum(balance_micros) as balance, sum(held_micros) as held from account)
     cross join (
       select count(*) as entries, sum(balance_delta_micros) filter (where kind in ('credit', 'adjustment')) as credited,
         -sum(balance_delta_micros) filter (where kind = 'capture') as captured,
         sum(balance_delta_micros) filter (where kind = 'refund') as refunded
       from ledger_entry)
     cross join (select count(*) as tasks, count(pool) as live_tasks from task)
     cross join (select count(*) as quotas from key_quota)
     cross join (select count(*) as usage_days from usage_day)`,
  );
  return () => {
    const row = all.get();
    if (row === null) throw new Error("Nothing could be counted.");
    return {
      rows: {
        accounts: row.accounts,
        ledgerEntries: row.entries,
        tasks: row.tasks,
        liveTasks: row.live_tasks,
        quotas: row.quotas,
        usageDays: row.usage_days,
      },
      sums: {
        credited: toMicros(row.credited ?? 0),
        captured: toMicros(row.captured ?? 0),
        refunded: toMicros(row.refunded ?? 0),
        balance: toMicros(row.balance ?? 0),
        held: toMicros(row.held ?? 0),
      },
    };
  };
}
