import type { Database } from "bun:sqlite";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDifference,
  type AuditReport,
} from "../../domain/ports/audit.ts";
import { PASSES, type Pass } from "./audit/checks.ts";
import { prepareSums } from "./audit/sums.ts";
import { prepareTaskChecks } from "./audit/tasks.ts";

type Place = Omit<AuditDifference, "check" | "stored" | "expected">;
/** A row that a check found. Columns that do not apply are null or missing. Figures are text: a number may not be exact. */
type Found = { readonly [Name in keyof Place]: Place[Name] | null } & {
  readonly check: AuditCheck;
  readonly storedText: string | null;
  readonly expectedText: string | null;
};

/** The body of `Audit.run`. */
export function prepareAudit(db: Database): () => AuditReport {
  const begin = db.prepare("begin");
  const end = db.prepare("rollback");
  const passes = PASSES.map((pass) => db.prepare<Found, []>(statement(pass)));
  const sums = prepareSums(db);
  const taskChecks = prepareTaskChecks(db);

  function differences(): AuditDifference[] {
    const found = passes.flatMap((pass) => pass.all().map(toDifference));
    const all = [...found, ...taskChecks()];
    return Object.keys(AUDIT_CHECKS).flatMap((check) => all.filter((each) => each.check === check));
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

/** Finds the first row that each check of a pass objects to. */
function statement({ rows, order, checks }: Pass): string {
  // Safe: the names come from the table of checks.
  const found = Object.entries(checks).map(
    ([check, [stored, expected, wrong = `${stored} <> ${expected}`]]) =>
      `select * from (select '${check}' as "check", *, ${asText(stored)} as storedText, ${asText(expected)} as expectedText
         from found where ${wrong} order by ${order} limit 1)`,
  );
  return `with found as materialized (${rows}) ${found.join(" union all ")}`;
}

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
