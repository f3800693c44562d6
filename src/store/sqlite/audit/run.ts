import type { AuditDepth, AuditDifference, AuditOutcome, AuditReport } from "../../../domain/ports/audit.ts";
import { type Ahead, stillSo } from "./ahead.ts";
import type { SumName } from "./checks.ts";
import { compareSums, type Totals } from "./compare-sums.ts";
import { differencesOf, inOrder } from "./exact.ts";
import { added, type Figures } from "./figures.ts";
import { newSeals, pagesToSeal } from "./new-seals.ts";
import { spansBetween } from "./open-rows.ts";
import { type AuditReader, oneOf } from "./reader.ts";
import { brokenSeals, NO_PAGES, readSeals, type SealedPages, type Seals } from "./seals.ts";
import { COUNT_FEW, SUM_ACCOUNTS, type SumRow, sumsIn } from "./sums.ts";

/** The body of `Audit.examine`, in one moment of a database. @param ahead what was found right before */
export async function runAudit(reader: AuditReader, depth: AuditDepth, ahead?: Ahead): Promise<AuditOutcome> {
  const stored = await readSeals(reader);
  const before = ahead === undefined ? { sealed: NO_PAGES, checked: NO_PAGES } : stillSo(ahead, stored);
  const broken = depth === "checksums" ? await brokenSeals(reader, stored, before.sealed) : [];
  // Where one page is not as it was, none is taken for right.
  const seals = depth === "full" || broken.length > 0 ? withoutPages(stored) : stored;
  const checked = broken.length > 0 ? NO_PAGES : before.checked;
  const right = { ...seals, pages: together(seals.pages, checked) };
  const fresh = together(checked, await pagesToSeal(reader, right));
  const { left, totals } = await compareSums(reader, together(seals.pages, fresh));
  const found = await differences(reader, right, left);
  const report = await reportOf(reader, {
    depth,
    seals,
    totals,
    differences: inOrder([...found, ...broken]),
  });
  const isRight = report.differences.length === 0;
  return { report, seals: isRight ? await newSeals(reader, { seals, pages: fresh, sums: left }) : [] };
}

const withoutPages = (seals: Seals): Seals => ({
  ...seals,
  pages: NO_PAGES,
  label: undefined,
  sums: undefined,
});

const together = (one: SealedPages, other: SealedPages): SealedPages => ({
  task: new Map([...one.task, ...other.task]),
  ledger_entry: new Map([...one.ledger_entry, ...other.ledger_entry]),
});

/** Checks every row that is not sealed, and the sums that are not what they were. */
function differences(
  reader: AuditReader,
  { pages, sums }: Seals,
  left: Readonly<Record<SumName, bigint>>,
): Promise<AuditDifference[]> {
  const names = Object.keys(left) as SumName[];
  const wrong = new Set(names.filter((name) => left[name] !== (sums?.[name] ?? 0n)));
  const isSealed = pages.task.size > 0 || pages.ledger_entry.size > 0;
  const open = isSealed && {
    task: spansBetween([...pages.task.keys()]),
    ledger_entry: spansBetween([...pages.ledger_entry.keys()]),
  };
  return differencesOf(reader, wrong, open || undefined);
}

interface Found extends Pick<AuditReport, "differences"> {
  readonly depth: AuditDepth;
  readonly seals: Seals;
  readonly totals: Totals;
}

async function reportOf(
  reader: AuditReader,
  { depth, seals: { pages }, totals, differences }: Found,
): Promise<AuditReport> {
  const few = await oneOf<Pick<AuditReport["rows"], "accounts" | "quotas" | "usageDays">>(reader, COUNT_FEW);
  const accounts = await oneOf<Pick<SumRow, `${"balance" | "held"}_${"high" | "low"}`>>(reader, SUM_ACCOUNTS);
  const { task, ledger_entry: entries } = totals;
  return {
    rows: {
      accounts: few.accounts,
      ledgerEntries: Number(entries.rows),
      tasks: Number(task.rows),
      liveTasks: Number(task.live),
      quotas: few.quotas,
      usageDays: few.usageDays,
    },
    sums: sumsIn({ ...entries, ...accounts } as SumRow),
    differences,
    sealed: { depth, tasks: countIn(pages.task), ledgerEntries: countIn(pages.ledger_entry) },
  };
}

const countIn = (pages: ReadonlyMap<number, Figures>): number =>
  Number(added([...pages.values()]).rows ?? 0n);
