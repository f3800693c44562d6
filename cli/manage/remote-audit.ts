import type { AccountId, KeyId, ModelId, TaskId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { countsThings } from "../../src/domain/money/audit-form.ts";
import { parseDay } from "../../src/domain/money/usage.ts";
import {
  AUDIT_CHECKS,
  AUDIT_DEPTHS,
  type AuditCheck,
  type AuditDepth,
  type AuditDifference,
  type AuditReport,
} from "../../src/domain/ports/audit.ts";
import type { AdminCalls } from "../client/admin.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { countIn, objectIn, objectsIn, optionalTextIn, textIn, wordIn } from "./fields.ts";

/** Many tasks take a while. The default address cuts a request off after two minutes. */
const PATIENCE_MS = 30 * 60_000;
// The keys of the table are its checks.
const CHECKS = Object.keys(AUDIT_CHECKS) as AuditCheck[];

/** Has a server check its books. */
export async function readRemoteAudit({ get }: AdminCalls, depth: AuditDepth): Promise<AuditReport> {
  try {
    // A server of an older version knows one depth.
    return reportOf(await get("/audit", depth === "checksums" ? {} : { depth }, PATIENCE_MS));
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.stillRunning) throw error;
    throw error.withHint(
      "Give the server's address for long requests with --server, or run `svc audit` on its machine.",
    );
  }
}

function reportOf(form: JsonObject): AuditReport {
  const rows = objectIn(form, "rows");
  const sums = objectIn(form, "sums");
  const sealed = form.sealed === undefined ? undefined : objectIn(form, "sealed");
  return {
    rows: {
      accounts: countIn(rows, "accounts"),
      ledgerEntries: countIn(rows, "ledger_entries"),
      tasks: countIn(rows, "tasks"),
      liveTasks: countIn(rows, "live_tasks"),
      quotas: countIn(rows, "quotas"),
      usageDays: countIn(rows, "usage_days"),
    },
    sums: {
      credited: microsIn(sums, "credited"),
      captured: microsIn(sums, "captured"),
      refunded: microsIn(sums, "refunded"),
      balance: microsIn(sums, "balance"),
      held: microsIn(sums, "held"),
    },
    sealed:
      sealed === undefined
        ? { depth: "full", tasks: 0, ledgerEntries: 0 }
        : {
            depth: wordIn(sealed, "depth", AUDIT_DEPTHS),
            tasks: countIn(sealed, "tasks"),
            ledgerEntries: countIn(sealed, "ledger_entries"),
          },
    differences: objectsIn(form, "differences").map(differenceOf),
  };
}

function differenceOf(form: JsonObject): AuditDifference {
  const check = wordIn(form, "check", CHECKS);
  const day = optionalTextIn(form, "day");
  const figure = (name: string) => (countsThings(check) ? BigInt(countIn(form, name)) : microsIn(form, name));
  return {
    check,
    accountId: optionalTextIn(form, "account_id") as AccountId | undefined,
    keyId: optionalTextIn(form, "key_id") as KeyId | undefined,
    taskId: optionalTextIn(form, "task_id") as TaskId | undefined,
    model: optionalTextIn(form, "model") as ModelId | undefined,
    day: day === undefined ? undefined : parseDay(day),
    entry: form.ledger_entry == null ? undefined : countIn(form, "ledger_entry"),
    stored: figure("stored"),
    expected: figure("expected"),
  };
}

/** Sums of all accounts may be more than a number holds exactly. */
function microsIn(form: JsonObject, name: string): bigint {
  const [, sign, whole, fraction] = /^(-?)(\d+)\.(\d{6})$/.exec(textIn(form, name)) ?? [];
  if (whole === undefined || fraction === undefined)
    throw unexpectedAnswer(`The server's answer is none of svc's: "${name}" is not an amount.`);
  return BigInt(`${sign}${whole}${fraction}`);
}
