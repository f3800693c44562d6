/*
 * Databases of other gateways, made for tests: the tables and columns that are read, and a few beside them, with invented rows.
 *
 * LiteLLM: litellm/proxy/schema.prisma of github.com/BerriAI/litellm at 0010143. new-api: model/channel.go, token.go, user.go of
 * github.com/QuantumNous/new-api. one-api: the same files of github.com/songquanpeng/one-api at 8df4a26. All transcribed 2026-11-27.
 */
import { Database } from "bun:sqlite";

/** Runs one statement. */
export type Execute = (statement: string) => Promise<void>;
export type DialectName = "sqlite" | "postgres" | "mysql";

type Value = string | number | boolean | null | readonly string[];
export type GatewayRow = Readonly<Record<string, Value>>;

interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
}
type ColumnType = "id" | "key" | "text" | "long" | "integer" | "float" | "flag" | "texts" | "json" | "time";

const TYPES: Readonly<Record<DialectName, Readonly<Record<ColumnType, string>>>> = {
  sqlite: {
    ...{ id: "integer primary key", key: "text primary key", text: "text", long: "text", integer: "integer" },
    ...{ float: "real", flag: "numeric", texts: "text", json: "text", time: "text" },
  },
  postgres: {
    ...{ id: "bigint primary key", key: "text primary key", text: "text", long: "text", integer: "bigint" },
    ...{ float: "double precision", flag: "boolean", texts: "text[]", json: "jsonb", time: "timestamp(3)" },
  },
  mysql: {
    ...{ id: "bigint primary key", key: "varchar(191) primary key", text: "varchar(191)", long: "longtext" },
    ...{
      integer: "bigint",
      float: "double",
      flag: "tinyint(1)",
      texts: "json",
      json: "json",
      time: "datetime(3)",
    },
  },
};

const LITELLM: readonly Table[] = [
  {
    name: "LiteLLM_VerificationToken",
    columns: {
      ...{
        token: "key",
        key_name: "text",
        key_alias: "text",
        spend: "float",
        expires: "time",
        models: "texts",
      },
      ...{
        aliases: "json",
        config: "json",
        user_id: "text",
        team_id: "text",
        max_parallel_requests: "integer",
      },
      ...{
        metadata: "json",
        blocked: "flag",
        tpm_limit: "integer",
        rpm_limit: "integer",
        max_budget: "float",
      },
      ...{
        budget_duration: "text",
        budget_reset_at: "time",
        allowed_routes: "texts",
        model_max_budget: "json",
      },
      ...{ budget_id: "text", budget_limits: "json", rotation_count: "integer" },
    },
  },
  {
    name: "LiteLLM_ProxyModelTable",
    columns: { model_id: "key", model_name: "text", litellm_params: "json", blocked: "flag" },
  },
  {
    name: "LiteLLM_TeamTable",
    columns: {
      ...{ team_id: "key", team_alias: "text", max_budget: "float", spend: "float", models: "texts" },
      ...{ budget_duration: "text", blocked: "flag" },
    },
  },
  {
    name: "LiteLLM_UserTable",
    columns: {
      ...{ user_id: "key", user_alias: "text", user_email: "text", password: "text", max_budget: "float" },
      ...{ spend: "float", budget_duration: "text" },
    },
  },
  {
    name: "LiteLLM_BudgetTable",
    columns: {
      ...{ budget_id: "key", max_budget: "float", budget_duration: "text", max_parallel_requests: "integer" },
      ...{ tpm_limit: "integer", rpm_limit: "integer" },
    },
  },
];

const CHANNEL: Table["columns"] = {
  ...{ id: "id", type: "integer", key: "long", status: "integer", name: "text", weight: "integer" },
  ...{ base_url: "text", models: "long", group: "text", used_quota: "integer", model_mapping: "long" },
  priority: "integer",
};
const TOKEN: Table["columns"] = {
  ...{ id: "id", user_id: "integer", key: "text", status: "integer", name: "text", created_time: "integer" },
  ...{ expired_time: "integer", remain_quota: "integer", unlimited_quota: "flag", used_quota: "integer" },
};
const USER: Table["columns"] = {
  ...{
    id: "id",
    username: "text",
    password: "text",
    role: "integer",
    status: "integer",
    access_token: "text",
  },
  ...{ quota: "integer", used_quota: "integer", group: "text" },
};
const OPTIONS: Table = { name: "options", columns: { key: "key", value: "long" } };

const NEW_API: readonly Table[] = [
  { name: "channels", columns: { ...CHANNEL, channel_info: "json", deleted_at: "time" } },
  {
    name: "tokens",
    columns: {
      ...TOKEN,
      ...{
        model_limits_enabled: "flag",
        model_limits: "long",
        allow_ips: "text",
        group: "text",
        deleted_at: "time",
      },
    },
  },
  { name: "users", columns: { ...USER, deleted_at: "time" } },
  OPTIONS,
];
const ONE_API: readonly Table[] = [
  { name: "channels", columns: { ...CHANNEL, config: "long" } },
  { name: "tokens", columns: { ...TOKEN, models: "long", subnet: "text" } },
  { name: "users", columns: USER },
  OPTIONS,
];

export const GATEWAYS = { litellm: LITELLM, "new-api": NEW_API, "one-api": ONE_API } as const;
export type GatewayName = keyof typeof GATEWAYS;
export type GatewayRows = Readonly<Record<string, readonly GatewayRow[]>>;

/** Makes a gateway's tables, without those columns that are left out, and fills them. */
export async function fillGateway(
  execute: Execute,
  {
    of,
    dialect,
    rows,
    without = [],
    renamed = {},
  }: {
    readonly of: GatewayName;
    readonly dialect: DialectName;
    readonly rows: GatewayRows;
    readonly without?: readonly string[];
    /** Columns that have another name, by `table.column`, as in a version that nobody knows. */
    readonly renamed?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  for (const { name, columns } of GATEWAYS[of]) {
    const kept = Object.entries(columns).filter(([column]) => !without.includes(`${name}.${column}`));
    const quoted = (text: string) => (dialect === "mysql" ? `\`${text}\`` : `"${text}"`);
    const defined = kept.map(
      ([column, type]) => `${quoted(renamed[`${name}.${column}`] ?? column)} ${TYPES[dialect][type]}`,
    );
    await execute(`create table ${quoted(name)} (${defined.join(", ")})`);
    for (let from = 0; from < (rows[name] ?? []).length; from += 100) {
      const values = (rows[name] ?? []).slice(from, from + 100).map((row) => {
        const cells = kept.map(([column]) => literal(row[column] ?? null, dialect));
        return `(${cells.join(", ")})`;
      });
      await execute(`insert into ${quoted(name)} values ${values.join(", ")}`);
    }
  }
}

function literal(value: Value, dialect: DialectName): string {
  if (value === null) return "null";
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return dialect === "sqlite" ? String(Number(value)) : String(value);
  if (typeof value !== "string") {
    if (dialect !== "postgres") return literal(JSON.stringify(value), dialect);
    return value.length === 0 ? "'{}'" : `array[${value.map((each) => literal(each, dialect)).join(", ")}]`;
  }
  const text = value.replaceAll("'", "''");
  return `'${dialect === "mysql" ? text.replaceAll("\\", "\\\\") : text}'`;
}

/** A file of SQLite with a gateway's tables. */
export async function sqliteGateway(
  path: string,
  given: Omit<Parameters<typeof fillGateway>[1], "dialect">,
): Promise<string> {
  const db = new Database(path, { create: true });
  db.run("begin");
  await fillGateway(async (statement) => void db.run(statement), { ...given, dialect: "sqlite" });
  db.run("commit");
  db.close();
  return path;
}
