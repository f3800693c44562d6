import { AUDIT_CHECKS, AUDIT_DEPTHS } from "../../../domain/ports/audit.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  text,
} from "../../wire/schema.ts";
import { CURRENCY_SCHEMA, idOf } from "../../wire/values.ts";
import { contract } from "../contract.ts";

const count = (description: string) => integer(description, { minimum: 0 });
/** Sums of all accounts, which may be longer than one account's amounts. */
const sum = (description: string) => text(description, { pattern: "^-?[0-9]+\\.[0-9]{6}$" });
const figure = (description: string) => ({ type: ["string", "integer"], description });

const AUDIT = component("Audit", {
  adds_up: flag("Whether every figure is what it must be."),
  checks: count("How many checks were made."),
  rows: closed({
    accounts: count("Accounts that were read."),
    ledger_entries: count("Entries of their ledgers."),
    tasks: count("Tasks."),
    live_tasks: count("Those of them that have not ended."),
    quotas: count("Periods of keys' quotas."),
    usage_days: count("Days of usage."),
  }),
  sums: closed({
    currency: CURRENCY_SCHEMA,
    credited: sum("Credited, less what was taken off."),
    captured: sum("Charged."),
    refunded: sum("Given back."),
    balance: sum("Of all accounts: credited, less captured, plus refunded."),
    held: sum("Held for live tasks."),
  }),
  sealed: closed({
    depth: openEnum(AUDIT_DEPTHS, "As `depth` of the request."),
    tasks: count("Tasks that an earlier audit has verified, of which no more than `depth` says was read."),
    ledger_entries: count("Entries of ledgers of which the same is so."),
  }),
  differences: list(
    closed({
      check: openEnum(Object.keys(AUDIT_CHECKS), "The check that failed."),
      rule: text("What it says must be."),
      account_id: nullable(idOf("acc", "The account.")),
      key_id: nullable(idOf("key", "The key.")),
      task_id: nullable(idOf("task", "The task.")),
      model: nullable(text("The model.")),
      day: nullable(text("First day of a quota's period, or a day of usage.")),
      ledger_entry: nullable(count("Number of an entry of the ledger; of a page, its first one.")),
      stored: figure("What is stored: an amount, a count, or the checksum of a page of rows."),
      expected: figure("What it must be."),
    }),
    { description: "The first difference of each check; empty when the books add up." },
  ),
});

export const AUDIT_QUERY = optional({
  depth: text(
    "What is done with tasks and entries that an earlier audit has verified and sealed: `checksums` compares each page of them with its seal, `new` takes seals at their word and is fastest, `full` checks every row again.",
    { enum: [...AUDIT_DEPTHS], default: "checksums" },
  ),
});

export const READ_AUDIT = contract("readAudit", "Recompute every figure of the books", AUDIT, {
  query: AUDIT_QUERY,
  description:
    "Reads one moment of the database, and holds up nothing else. Pages of 10,000 tasks and ledger entries that were found right are sealed with a checksum, by which the next audit takes less time. The first one, and a full one, take as long as there are rows. Where that is more than the time limit of the address, the answer is 504 and says that the audit goes on: the same request, sent again, waits for it and gets its answer. The address for long requests has no limit.",
});
