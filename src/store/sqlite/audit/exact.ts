import type { AuditCheck, AuditDifference } from "../../../domain/ports/audit.ts";
import { AUDIT_CHECKS } from "../../../domain/ports/audit.ts";
import { type Pass, passesIn, type SumName } from "./checks.ts";
import { type OpenSpans, openRows, openTasksWithEntries } from "./open-rows.ts";
import type { AuditReader } from "./reader.ts";
import { type FirstWrong, firstWrongIn, type WrongTask, wrongIn, wrongTask, wrongTaskIn } from "./tasks.ts";

type Place = Omit<AuditDifference, "check" | "stored" | "expected">;
/** A row that a check found. Columns that do not apply are null or missing. Figures are text: a number may not be exact. */
type Found = { readonly [Name in keyof Place]: Place[Name] | null } & {
  readonly check: AuditCheck;
  readonly storedText: string | null;
  readonly expectedText: string | null;
};

/**
 * Makes every check, but for sums that are known to be right.
 *
 * @param open rows that are looked at, where all others are right; all unless given
 * @returns of each check the first difference
 */
export async function differencesOf(
  reader: AuditReader,
  wrong: ReadonlySet<SumName>,
  open?: OpenSpans,
): Promise<AuditDifference[]> {
  const found: AuditDifference[] = [];
  for (const pass of passesIn(reader.dialect)) {
    const of = lookedAt(pass, wrong, open);
    if (of === "all") found.push(...(await run(reader, passStatement(pass))));
    else if (of !== "none") {
      const text = passStatement(pass, openRows(reader.dialect, of.table));
      found.push(...(await run(reader, text, spansText(of.spans))));
    }
  }
  return [...found, ...(await wrongTasks(reader, open))];
}

/** Checks rows for themselves, without what they add up to. @returns whether all that are open are right */
export async function areRowsRight(reader: AuditReader, open: OpenSpans): Promise<boolean> {
  for (const pass of passesIn(reader.dialect)) {
    if (pass.open === undefined || pass.isOfRows !== true) continue;
    const text = passStatement(pass, openRows(reader.dialect, pass.open));
    if ((await run(reader, text, spansText(open[pass.open]))).length > 0) return false;
  }
  return (await wrongTasks(reader, open)).length === 0;
}

/** What a pass must look at. */
function lookedAt({ open: table, sums }: Pass, wrong: ReadonlySet<SumName>, open: OpenSpans | undefined) {
  if (sums?.some((name) => wrong.has(name))) return "all";
  if (table !== undefined && open !== undefined) return { table, spans: open[table] };
  return sums === undefined ? "all" : "none";
}

const spansText = (spans: OpenSpans["task"]): string => JSON.stringify(spans);

/** Differences in the order in which the checks are told. */
export function inOrder(all: readonly AuditDifference[]): AuditDifference[] {
  return Object.keys(AUDIT_CHECKS).flatMap((check) => all.filter((each) => each.check === check));
}

async function run(reader: AuditReader, text: string, ...parameters: string[]): Promise<AuditDifference[]> {
  return (await reader.all<Found>(text, ...parameters)).map(toDifference);
}

async function wrongTasks(reader: AuditReader, open: OpenSpans | undefined): Promise<AuditDifference[]> {
  const { dialect } = reader;
  const [found] =
    open === undefined
      ? await reader.all<FirstWrong>(firstWrongIn(dialect))
      : await reader.all<FirstWrong>(
          `with ${openTasksWithEntries(dialect)} ${firstWrongIn(dialect)}`,
          ...[spansText(open.task), spansText(open.ledger_entry)],
        );
  const differences: AuditDifference[] = [];
  for (const { check, taskId } of wrongIn(found)) {
    const [figures] = await reader.all<WrongTask>(wrongTaskIn(dialect, check), taskId);
    if (figures !== undefined) differences.push(wrongTask(check, taskId, figures));
  }
  return differences;
}

/** Finds the first row that each check of a pass objects to, as `Found`. @param instead tables to take the place of those of the database */
function passStatement({ rows, order, checks }: Pass, instead?: string): string {
  // Safe: the names come from the table of checks.
  const found = Object.entries(checks).map(
    ([check, [stored, expected, wrong = `${stored} <> ${expected}`]]) =>
      `select * from (select '${check}' as "check", *, ${asText(stored)} as "storedText", ${asText(expected)} as "expectedText"
         from found where ${wrong} order by ${order} limit 1) as first`,
  );
  const tables = instead === undefined ? "" : `${instead}, `;
  return `with ${tables}found as materialized (${rows}) ${found.join(" union all ")}`;
}

/** What is told of a row. */
function toDifference(row: Found): AuditDifference {
  const { check, accountId, keyId, taskId, model, day, entry, storedText, expectedText } = row;
  return {
    check,
    accountId: accountId ?? undefined,
    keyId: keyId ?? undefined,
    taskId: taskId ?? undefined,
    model: model ?? undefined,
    day: day ?? undefined,
    entry: entry ?? undefined,
    stored: BigInt(storedText ?? 0),
    expected: BigInt(expectedText ?? 0),
  };
}

/** A figure as text, in SQL. */
const asText = (figure: string): string => `cast(${figure} as text)`;
