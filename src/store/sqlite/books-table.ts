import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { micros, numberOfAccount } from "./account-store/account-table.ts";

/** Stands for "no period" in `quota_period`. */
export const NO_PERIOD = -1;

/**
 * What the books contain about removed tasks whose own rows are gone, summed up by the day on which they ended; `day` counts from
 * 1970-01-01 UTC. A task counts at the provider that had it last, and the costs of its attempts at the providers that made them.
 * WITHOUT ROWID.
 */
export const booksDay = sqliteTable(
  "books_day",
  {
    accountNumber: numberOfAccount(),
    day: integer().notNull(),
    keyLabel: integer("key_label").notNull(),
    modelLabel: integer("model_label").notNull(),
    provider: text().notNull(),
    /** The key's quota period that the tasks counted in, or `NO_PERIOD`. */
    quotaPeriod: integer("quota_period").notNull(),
    tasks: integer().notNull(),
    completed: integer().notNull(),
    outputs: integer().notNull(),
    charged: micros("charged_micros").notNull(),
    /** Tasks of which this provider's cost is known, what it was, */
    costed: integer().notNull(),
    cost: micros("cost_micros").notNull(),
    /** what those of them were charged that this provider had last, */
    chargedHere: micros("charged_here_micros").notNull(),
    /** and what all of them were charged, each task at one of its providers. */
    chargedOnce: micros("charged_once_micros").notNull(),
    /** Attempts that got no answer and were repeated. */
    resubmitted: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.accountNumber,
        table.day,
        table.keyLabel,
        table.modelLabel,
        table.provider,
        table.quotaPeriod,
      ],
    }),
  ],
);
