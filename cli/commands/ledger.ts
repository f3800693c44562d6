import type { Command } from "commander";
import { accountForm, ledgerForm } from "../../src/domain/access/record-form.ts";
import { formatAmount } from "../../src/domain/money/money.ts";
import { given } from "../command.ts";
import type { Context } from "../context.ts";
import { unreadable } from "../flags/values.ts";
import { csvOption, csvText, renderCsv } from "../format/csv.ts";
import { column } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples } from "../help/manual.ts";
import { onManagedRun, withManagedFlags } from "../manage/managed.ts";
import type { Manage } from "../manage/port.ts";

const AMOUNTS = [column.number("AMOUNT"), column.number("HELD", 3), column.number("BALANCE", 2)];
const COLUMNS = [
  column.word("TIME"),
  column.word("KIND", 1),
  ...AMOUNTS,
  column.id("TASK", 5),
  column.text("REASON", 4),
  column.text("ACTOR", 6),
];
const CSV_COLUMNS = ["time", "kind", "balance_delta", "held_delta", "balance", "task_id", "reason", "actor"];
const DEFAULT_LIMIT = 50;
const PAGE = 1000;

interface Flags {
  readonly limit?: string;
  readonly csv?: boolean;
}

export function defineLedger(command: Command, context: Context): void {
  withManagedFlags(command)
    .option("--limit <count>", `how many movements, or all (default ${DEFAULT_LIMIT}; with --csv all)`)
    .addOption(csvOption());
  withExamples(command, "svc ledger studio", "svc ledger studio --csv > ledger.csv");
  onManagedRun<Flags>(command, context, async ({ args, options, output, open }) => {
    const limit = readLimit(options);
    const { manage } = await open();
    const { account, rows, hasMore } = await readRows(manage, given(args, 0), limit);
    if (options.csv === true) {
      const cells = rows.map((row) => [new Date(row.at).toISOString(), ...cellsOf(row, csvText)]);
      context.stdout.write(renderCsv(CSV_COLUMNS, cells));
    } else {
      const cells = rows.map((row) => [formatTime(row.at), ...cellsOf(row, (text) => text)]);
      const value = { account: accountForm(account), entries: rows.map(ledgerForm) };
      await output.list(value, COLUMNS, cells);
    }
    if (hasMore) output.say("There are earlier ones: --limit all shows every one.");
  });
}

type Page = Awaited<ReturnType<Manage["readLedger"]>>;

async function readRows(manage: Manage, idOrName: string, limit: number) {
  let page = await manage.readLedger(idOrName, { limit: Math.min(limit, PAGE) });
  const { account } = page;
  const rows = [...page.rows];
  while (page.next !== undefined && rows.length < limit) {
    const before = page.next;
    page = await manage.readLedger(account.id, { limit: Math.min(limit - rows.length, PAGE), before });
    rows.push(...page.rows);
  }
  return { account, rows, hasMore: page.next !== undefined };
}

function cellsOf(row: Page["rows"][number], chosen: (text: string) => string): string[] {
  return [
    row.kind,
    formatAmount(row.balanceDelta),
    formatAmount(row.heldDelta),
    formatAmount(row.balance),
    row.taskId ?? "",
    chosen(row.entries === undefined ? row.reason : `${row.reason}: ${row.entries} entries`),
    row.actor,
  ];
}

function readLimit({ limit, csv }: Flags): number {
  if (limit === "all" || (limit === undefined && csv === true)) return Number.POSITIVE_INFINITY;
  if (limit === undefined) return DEFAULT_LIMIT;
  const count = /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  if (count > 0) return count;
  throw unreadable("--limit", "a whole number from 1, or all", limit);
}
