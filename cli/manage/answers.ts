import type { Account } from "../../src/domain/access/account.ts";
import { ACCOUNT_TERMS, type AccountTerms } from "../../src/domain/access/account-terms.ts";
import { KEY_LIMITS, type KeyPolicy } from "../../src/domain/access/key-policy.ts";
import { ALL_SCOPES, type Scope } from "../../src/domain/access/token-terms.ts";
import type { AccountId, KeyId, LaneId, ModelId, SessionId, TaskId, TokenId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { LedgerKind } from "../../src/domain/money/ledger.ts";
import { QUOTA_RESETS } from "../../src/domain/money/quota.ts";
import {
  parseDay,
  parseSplit,
  type UsageReport,
  type UsageRow,
  type UsageSplit,
  type UsageSum,
} from "../../src/domain/money/usage.ts";
import type { DatabaseCheck } from "../../src/domain/ports/database-check.ts";
import { unexpectedAnswer } from "../failure.ts";
import {
  amountIn,
  countIn,
  flagIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  optionalSumIn,
  optionalTextIn,
  optionalTimeIn,
  sumIn,
  textIn,
  textsIn,
  timeIn,
  wordIn,
} from "./fields.ts";
import type { ShownEntry, ShownKey, ShownQuota, ShownSession, ShownToken } from "./port.ts";
import { readTermFields } from "./term-fields.ts";

/* The records in answers of the management API; `src/domain/access/record-form.ts` writes them. Ids are taken as they come. */

export function accountOf(form: JsonObject): Account {
  return {
    id: textIn(form, "id") as AccountId,
    name: textIn(form, "name"),
    status: wordIn(form, "status", ["active", "suspended"]),
    balance: amountIn(form, "balance"),
    held: amountIn(form, "held"),
    createdAt: timeIn(form, "created_at"),
    // Read by the table that the type is made from.
    ...(readTermFields(ACCOUNT_TERMS, form) as unknown as AccountTerms),
  };
}

export function keyOf(form: JsonObject): ShownKey {
  const previous = optionalObjectIn(form, "previous");
  return {
    id: textIn(form, "id") as KeyId,
    accountId: textIn(form, "account_id") as AccountId,
    name: textIn(form, "name"),
    display: textIn(form, "display"),
    // Read by the table that the type is made from.
    policy: readTermFields(KEY_LIMITS, form) as KeyPolicy,
    createdAt: timeIn(form, "created_at"),
    expiresAt: optionalTimeIn(form, "expires_at"),
    revokedAt: optionalTimeIn(form, "revoked_at"),
    signsCallbacks: flagIn(form, "signs_callbacks"),
    previous: previous && {
      display: textIn(previous, "display"),
      expiresAt: timeIn(previous, "expires_at"),
    },
  };
}

export function quotaOf(form: JsonObject): ShownQuota {
  return {
    key: { id: textIn(form, "key_id") as KeyId },
    quota: {
      limit: amountIn(form, "limit"),
      reset: wordIn(form, "reset", QUOTA_RESETS),
      used: sumIn(form, "used"),
      reserved: amountIn(form, "reserved"),
      remaining: amountIn(form, "remaining"),
      resetsAt: optionalTimeIn(form, "resets_at"),
    },
  };
}

export function tokenOf(form: JsonObject): ShownToken {
  return {
    id: textIn(form, "id") as TokenId,
    name: textIn(form, "name"),
    display: textIn(form, "display"),
    // Only shown, so that a scope of a later version is shown too. Tokens of earlier versions may do everything.
    scopes: form.scopes === undefined ? ALL_SCOPES : (textsIn(form, "scopes") as readonly Scope[]),
    createdAt: timeIn(form, "created_at"),
    expiresAt: optionalTimeIn(form, "expires_at"),
    lastUsedAt: optionalTimeIn(form, "last_used_at"),
    revokedAt: optionalTimeIn(form, "revoked_at"),
  };
}

export function sessionOf(form: JsonObject): ShownSession {
  const holder = objectIn(form, "holder");
  return {
    id: textIn(form, "id") as SessionId,
    kind: textIn(form, "role") === "tenant" ? "api_key" : "management_token",
    holderId: textIn(holder, "id") as TokenId,
    holderName: textIn(holder, "name"),
    isLink: textIn(form, "state") === "link",
    createdAt: timeIn(form, "created_at"),
    expiresAt: timeIn(form, "expires_at"),
  };
}

export function entryOf(form: JsonObject): ShownEntry {
  return {
    at: timeIn(form, "at"),
    // Only shown, so that a kind of a later version is shown too.
    kind: textIn(form, "kind") as LedgerKind,
    balanceDelta: amountIn(form, "balance_delta"),
    heldDelta: amountIn(form, "held_delta"),
    balance: amountIn(form, "balance"),
    taskId: optionalTextIn(form, "task_id") as TaskId | undefined,
    entries: form.entries == null ? undefined : countIn(form, "entries"),
    reason: textIn(form, "reason"),
    actor: textIn(form, "actor"),
  };
}

export function usageReportOf(form: JsonObject): UsageReport {
  return {
    ...splitIn(form),
    since: dayIn(form, "since"),
    until: dayIn(form, "until"),
    rows: objectsIn(form, "rows").map(usageRowOf),
    total: usageSumOf(objectIn(form, "total")),
  };
}

function splitIn(form: JsonObject): UsageSplit {
  const split = parseSplit(textIn(form, "by"));
  if (split !== undefined) return split;
  throw unexpectedAnswer("The server's answer is none of svc's: \"by\" is not what usage is summed up by.");
}

function usageRowOf(form: JsonObject): UsageRow {
  const account = optionalTextIn(form, "account_id");
  const key = optionalTextIn(form, "key_id");
  return {
    account: account === undefined ? undefined : { id: account as AccountId, name: textIn(form, "account") },
    key: key === undefined ? undefined : { id: key as KeyId, name: textIn(form, "key") },
    model: optionalTextIn(form, "model") as ModelId | undefined,
    day: form.day === undefined ? undefined : dayIn(form, "day"),
    provider: optionalTextIn(form, "provider") as LaneId | undefined,
    ...usageSumOf(form),
  };
}

function usageSumOf(form: JsonObject): UsageSum {
  return {
    completed: countIn(form, "completed"),
    failed: countIn(form, "failed"),
    cancelled: countIn(form, "cancelled"),
    outputs: countIn(form, "outputs"),
    resubmitted: countIn(form, "resubmitted"),
    charged: sumIn(form, "charged"),
    cost: optionalSumIn(form, "upstream_cost"),
    margin: optionalSumIn(form, "margin"),
  };
}

function dayIn(form: JsonObject, name: string): number {
  const day = parseDay(textIn(form, name));
  if (day !== undefined) return day;
  throw unexpectedAnswer(`The server's answer is none of svc's: "${name}" is not a day.`);
}

export function databaseCheckOf(form: JsonObject): DatabaseCheck {
  const schema = objectIn(form, "schema");
  const pages = typeof form.pages === "number" ? countIn(form, "pages") : undefined;
  return {
    faults: objectsIn(form, "faults").map((fault) => ({
      kind: wordIn(fault, "kind", ["unreadable", "integrity", "reference", "schema"]),
      message: textIn(fault, "message"),
    })),
    schema: {
      latest: countIn(schema, "latest"),
      current: typeof schema.current === "number" ? schema.current : undefined,
      pending: textsIn(schema, "pending"),
    },
    fileBytes: countIn(form, "database_bytes"),
    walBytes: countIn(form, "wal_bytes"),
    pages:
      pages === undefined
        ? undefined
        : { count: pages, sizeBytes: countIn(form, "page_bytes"), free: countIn(form, "free_pages") },
  };
}
