import type { Database } from "bun:sqlite";
import type { AuditReport } from "../../../domain/ports/audit.ts";

type SumName = keyof AuditReport["sums"];
/** Sums in two halves, as text. */
export type SumRow = { readonly [Half in `${SumName}_${"high" | "low"}`]: string };

/** Counts the rows of an audit. */
export const COUNT_ROWS = `
  select (select count(*) from account) as accounts, (select count(*) from key_quota) as quotas,
    (select count(*) from usage_day) as "usageDays", (select count(*) from ledger_entry) as "ledgerEntries", tasks, "liveTasks"
  from (select count(*) as tasks, count(pool) as "liveTasks" from task) as counted`;

/** Sums up the money, as `SumRow`. */
export const SUM_MONEY = `
  select * from (select ${halves("balance_micros", "balance")}, ${halves("held_micros", "held")} from account) as accounts
  cross join (
    select ${halves("balance_delta_micros", "credited", "filter (where kind in ('credit', 'adjustment'))")},
      ${halves("-balance_delta_micros", "captured", "filter (where kind = 'capture')")},
      ${halves("balance_delta_micros", "refunded", "filter (where kind = 'refund')")}
    from ledger_entry) as entries`;

/** Puts the halves together. */
export function sumsIn(row: SumRow): AuditReport["sums"] {
  const whole = (name: SumName) => (BigInt(row[`${name}_high`]) << 32n) + BigInt(row[`${name}_low`]);
  return {
    credited: whole("credited"),
    captured: whole("captured"),
    refunded: whole("refunded"),
    balance: whole("balance"),
    held: whole("held"),
  };
}

/** Returns a function that counts the rows of an audit and sums up the money. */
export function prepareSums(db: Database): () => Pick<AuditReport, "rows" | "sums"> {
  const count = db.prepare<AuditReport["rows"], []>(COUNT_ROWS);
  const sum = db.prepare<SumRow, []>(SUM_MONEY);
  return () => {
    const [rows, sums] = [count.get(), sum.get()];
    if (rows === null || sums === null) throw new Error("Nothing could be counted.");
    return { rows, sums: sumsIn(sums) };
  };
}

/** A sum over many accounts may exceed 64 bits, so its upper and lower 32 bits are summed apart, and read as text. */
function halves(value: string, name: SumName, filter = ""): string {
  return `cast(coalesce(sum((${value}) >> 32) ${filter}, 0) as text) as ${name}_high,
    cast(coalesce(sum((${value}) & 4294967295) ${filter}, 0) as text) as ${name}_low`;
}
