import type { Database } from "bun:sqlite";
import {
  AUDIT_CHECKS,
  type AuditCheck,
  type AuditDifference,
  type AuditReport,
} from "../../domain/ports/audit.ts";
import { CHECKS } from "./audit/checks.ts";
import { prepareSums } from "./audit/sums.ts";
import { prepareTaskChecks } from "./audit/tasks.ts";

type Place = Omit<AuditDifference, "check" | "stored" | "expected">;
/** A row that a check found. Columns that do not apply are null or missing. Figures are text: a number may not be exact. */
type Found = { readonly [Name in keyof Place]: Place[Name] | null } & {
  readonly storedText: string | null;
  readonly expectedText: string | null;
};

/** The body of `Audit.run`. */
export function prepareAudit(db: Database): () => AuditReport {
  const begin = db.prepare("begin");
  const end = db.prepare("rollback");
  const checks = Object.entries(CHECKS).map(
    // Safe: the names come from the table of checks.
    ([check, sql]) => ({
      check: check as AuditCheck,
      first: db.prepare<Found, []>(`select *, ${asText("stored")}, ${asText("expected")} from (${sql})`),
    }),
  );
  const sums = prepareSums(db);
  const taskChecks = prepareTaskChecks(db);

  function differences(): AuditDifference[] {
    const found = checks.flatMap(({ check, first }) => {
      const row = first.get();
      return row === null ? [] : [toDifference(check, row)];
    });
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

function toDifference(check: AuditCheck, row: Found): AuditDifference {
  const { accountId, keyId, taskId, model, day, entry, storedText, expectedText } = row;
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
const asText = (figure: string): string => `cast(${figure} as text) as ${figure}Text`;
