import type { Database } from "bun:sqlite";
import { toMicros } from "../../../domain/money/money.ts";
import type { AuditReport } from "../../../domain/ports/audit.ts";

/** Returns a function that counts the rows of an audit and sums up the money. */
export function prepareSums(db: Database): () => Pick<AuditReport, "rows" | "sums"> {
  const count = db.prepare<AuditReport["rows"], []>(
    `select (select count(*) from account) as accounts, (select count(*) from key_quota) as quotas,
       (select count(*) from usage_day) as usageDays, (select count(*) from ledger_entry) as ledgerEntries, tasks, liveTasks
     from (select count(*) as tasks, count(pool) as liveTasks from task)`,
  );
  const sum = db.prepare<{ [Sum in keyof AuditReport["sums"]]: number }, []>(
    `select * from (select coalesce(sum(balance_micros), 0) as balance, coalesce(sum(held_micros), 0) as held from account)
     cross join (
       select coalesce(sum(balance_delta_micros) filter (where kind in ('credit', 'adjustment')), 0) as credited,
         coalesce(-sum(balance_delta_micros) filter (where kind = 'capture'), 0) as captured,
         coalesce(sum(balance_delta_micros) filter (where kind = 'refund'), 0) as refunded
       from ledger_entry)`,
  );
  return () => {
    const [rows, sums] = [count.get(), sum.get()];
    if (rows === null || sums === null) throw new Error("Nothing could be counted.");
    const { credited, captured, refunded, balance, held } = sums;
    return {
      rows,
      sums: {
        credited: toMicros(credited),
        captured: toMicros(captured),
        refunded: toMicros(refunded),
        balance: toMicros(balance),
        held: toMicros(held),
      },
    };
  };
}
