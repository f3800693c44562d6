import type { Database } from "bun:sqlite";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDifference,
  type AuditReport,
} from "../../domain/ports/audit.ts";
import { type AuditDialect, type Pass, passesIn } from "./audit/checks.ts";
import { prepareSums } from "./audit/sums.ts";
import { prepareTaskChecks } from "./audit/tasks.ts";

type Place = Omit<AuditDifference, "check" | "stored" | "expected">;
/** A row that a check found. Columns that do not apply are null or missing. Figures are text: a number may not be exact. */
export type Found = { readonly [Name in keyof Place]: Place[Name] | null } & {
  readonly check: AuditCheck;
  readonly storedText: string | null;
  readonly expectedText: string | null;
};

const DIALECT: AuditDialect = {
  lengthOf: (list) => `json_array_length(${list})`,
  // Most charges have one line, which need not be summed up.
  amountOf: (lines) =>
    `case when json_array_length(${lines}) = 1 then coalesce(${lines} ->> '$[0].amount', 0)
       else (select coalesce(sum(value ->> '$.amount'), 0) from json_each(${lines})) end`,
  tellsOf: (event, terms) => `${event} in (select value from json_each(${terms}, '$.events'))`,
  lower: (one, other) => `min(${one}, ${other})`,
  uncounted: `
    select iif(exists (
      select 1 from task where stage = 'terminal' and completed_at >= made.applied_at and completed_at < counted.applied_at
    ), counted.applied_at / 86400000, -1)
    from schema_migration as made cross join schema_migration as counted on counted.number = 2
    where made.number = 1`,
};

/** The body of `Audit.run`. */
export function prepareAudit(db: Database): () => AuditReport {
  const begin = db.prepare("begin");
  const end = db.prepare("rollback");
  const passes = passesIn(DIALECT).map((pass) => db.prepare<Found, []>(passStatement(pass)));
  const sums = prepareSums(db);
  const taskChecks = prepareTaskChecks(db, DIALECT);

  function differences(): AuditDifference[] {
    const found = passes.flatMap((pass) => pass.all().map(toDifference));
    return inOrder([...found, ...taskChecks()]);
  }

  return () => {
    // Every statement reads the state that the first one saw.
    begin.run();
    try {
      return { ...sums(), differences: differences() };
    } finally {
      end.run();
    }
  };
}

/** Differences in the order in which the checks are reported. */
export function inOrder(all: readonly AuditDifference[]): AuditDifference[] {
  return Object.keys(AUDIT_CHECKS).flatMap((check) => all.filter((each) => each.check === check));
}

/** Finds the first row that each check of a pass objects to, as `Found`. */
export function passStatement({ rows, order, checks }: Pass): string {
  // Safe: the names come from the table of checks.
  const found = Object.entries(checks).map(
    ([check, [stored, expected, wrong = `${stored} <> ${expected}`]]) =>
      `select * from (select '${check}' as "check", *, ${asText(stored)} as "storedText", ${asText(expected)} as "expectedText"
         from found where ${wrong} order by ${order} limit 1) as first`,
  );
  return `with found as materialized (${rows}) ${found.join(" union all ")}`;
}

/** What is told of a row. */
export function toDifference(row: Found): AuditDifference {
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
