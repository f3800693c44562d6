import { type Row, textOf } from "../fields.ts";
import type { LeftBehind } from "../holdings.ts";
import { newColumns, rowsOf, type Tables, type TableWish, type Versions } from "../tables/tables.ts";

/** The option that has, for each group of users, groups with `+:`, `-:` or nothing before their names. */
export const SPECIAL_GROUPS = "group_ratio_setting.group_special_usable_group";

/*
 * Tables of one-api (github.com/songquanpeng/one-api, model/*.go at 8df4a26) and of new-api, which came of it
 * (github.com/QuantumNous/new-api, model/*.go), both read 2026-11.
 */

const CHANNELS: TableWish = {
  table: "channels",
  by: "id",
  needed: ["id", "type", "key", "status", "name", "base_url", "models"],
  optional: ["model_mapping", "channel_info", "group", "priority"],
};
const TOKENS: TableWish = {
  table: "tokens",
  by: "id",
  needed: ["id", "user_id", "key", "status", "name", "expired_time", "remain_quota", "unlimited_quota"],
  optional: ["model_limits_enabled", "model_limits", "allow_ips", "group", "deleted_at", "models", "subnet"],
};
const USUAL = ["created_time", "accessed_time", "used_quota"];
const VERSIONS: Readonly<Record<OneApiKind, Versions>> = {
  "new-api": {
    narrowing: ["model_limits_enabled", "model_limits", "allow_ips", "deleted_at"],
    known: [...USUAL, "cross_group_retry", "billing_type"],
  },
  "one-api": { narrowing: ["models", "subnet"], known: USUAL },
};
const USERS: TableWish = {
  table: "users",
  by: "id",
  needed: ["id", "username", "quota", "status", "group"],
  optional: ["deleted_at"],
};
const OPTIONS: TableWish = { table: "options", by: "key", needed: ["key", "value"], optional: [] };

/** Options that are about money. Others may be secrets, and are not kept. */
const WANTED = [
  ...["QuotaPerUnit", "ModelPrice", "ModelRatio", "GroupRatio", "GroupGroupRatio"],
  ...["AutoGroups", "UserUsableGroups", SPECIAL_GROUPS],
];

/** Which of the two it is: their channels, columns and prices differ. */
export type OneApiKind = "one-api" | "new-api";

export interface OneApiRows {
  readonly channels: readonly Row[];
  readonly tokens: readonly Row[];
  readonly users: readonly Row[];
  readonly options: ReadonlyMap<string, string>;
  /** What of it is not read. */
  readonly left: readonly LeftBehind[];
}

/** @throws UnreadableSource */
export async function readOneApi(kind: OneApiKind, tables: Tables): Promise<OneApiRows> {
  const tokens = { ...TOKENS, versions: VERSIONS[kind] };
  const options = new Map<string, string>();
  for await (const { key, value } of rowsOf(tables, OPTIONS)) {
    const name = textOf(key) ?? "";
    if (WANTED.includes(name)) options.set(name, textOf(value) ?? "");
  }
  return {
    channels: await all(tables, CHANNELS),
    tokens: await all(tables, tokens),
    users: await all(tables, USERS),
    left: await newColumns(tables, tokens),
    options,
  };
}

async function all(tables: Tables, wish: TableWish): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of rowsOf(tables, wish)) if (!isDeleted(row)) rows.push(row);
  return rows;
}

/** new-api keeps what was deleted, with the time of it. */
function isDeleted({ deleted_at }: Row): boolean {
  return deleted_at !== undefined && deleted_at !== null && deleted_at !== "" && deleted_at !== 0;
}
