import type { AuditReport } from "../../../domain/ports/audit.ts";

type SumName = keyof AuditReport["sums"];
/** Sums in two halves, as text. */
export type SumRow = { readonly [Half in `${SumName}_${"high" | "low"}`]: string | bigint };

/** Counts the rows of an audit that are no tasks and no ledger entries. */
export const COUNT_FEW = `
  select (select count(*) from account) as accounts, (select count(*) from key_quota) as quotas,
    (select count(*) from usage_day) as "usageDays"`;

/** The halves of what the ledger moved, as SQL. */
export const MOVED_HALVES = `${halves("balance_delta_micros", "credited", "filter (where kind in ('credit', 'adjustment'))")},
  ${halves("-balance_delta_micros", "captured", "filter (where kind = 'capture')")},
  ${halves("balance_delta_micros", "refunded", "filter (where kind = 'refund')")}`;
/** What all accounts have, in halves. */
export const SUM_ACCOUNTS = `select ${halves("balance_micros", "balance")}, ${halves("held_micros", "held")} from account`;

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

/** A sum over many accounts may exceed 64 bits, so its upper and lower 32 bits are summed apart, and read as text. */
function halves(value: string, name: SumName, filter = ""): string {
  return `cast(coalesce(sum((${value}) >> 32) ${filter}, 0) as text) as ${name}_high,
    cast(coalesce(sum((${value}) & 4294967295) ${filter}, 0) as text) as ${name}_low`;
}
