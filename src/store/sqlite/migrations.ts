import createTables from "../../../migrations/sqlite/0001_create_tables.sql" with { type: "text" };
import addKeyPoliciesAndUsage from "../../../migrations/sqlite/0002_add_key_policies_and_usage.sql" with {
  type: "text",
};
import addQuotasAndPrices from "../../../migrations/sqlite/0003_add_quotas_and_prices.sql" with {
  type: "text",
};
import isolateCallbacks from "../../../migrations/sqlite/0004_isolate_callbacks_and_number_changes.sql" with {
  type: "text",
};

export interface Migration {
  readonly number: number;
  /** File name without its ending: `0001_create_tables`. */
  readonly name: string;
  readonly sql: string;
}

/** All there are, in order. The list is explicit because a compiled executable has no folder to look into. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "0001_create_tables", sql: createTables },
  { number: 2, name: "0002_add_key_policies_and_usage", sql: addKeyPoliciesAndUsage },
  { number: 3, name: "0003_add_quotas_and_prices", sql: addQuotasAndPrices },
  { number: 4, name: "0004_isolate_callbacks_and_number_changes", sql: isolateCallbacks },
];
