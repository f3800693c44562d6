import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { SQL } from "bun";
import { readConfig } from "../../src/moving/litellm/config.ts";
import { holdingsOfLitellm } from "../../src/moving/litellm/read.ts";
import { readDatabase } from "../../src/moving/litellm/rows.ts";
import { holdingsOfOneApi } from "../../src/moving/one-api/read.ts";
import { readOneApi } from "../../src/moving/one-api/rows.ts";
import { openTables } from "../../src/moving/tables/open.ts";
import type { Tables } from "../../src/moving/tables/tables.ts";
import { type DialectName, fillGateway, type GatewayName, type GatewayRows } from "../helpers/gateways.ts";
import {
  type DatabaseServer,
  HAS_MARIADB,
  HAS_POSTGRES,
  onceOn,
  startMariadb,
  startPostgres,
} from "./database-servers.ts";
import { deps, hash } from "./support.ts";

/* Other gateways' databases on real servers. Each is skipped where the machine does not have it. */

setDefaultTimeout(120_000);

const folders: string[] = [];
const running = new Map<DialectName, Promise<DatabaseServer>>();
afterAll(async () => {
  for (const server of running.values()) await server.then(({ stop }) => stop()).catch(() => {});
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function serverOf(dialect: DialectName): Promise<DatabaseServer> {
  const known = running.get(dialect);
  if (known !== undefined) return known;
  // Their own user comes through no folder that is closed to others, as the one for temporary files may be.
  const folder = mkdtempSync("/tmp/svc-database-");
  folders.push(folder);
  const started = dialect === "postgres" ? startPostgres(folder) : startMariadb(folder);
  running.set(dialect, started);
  return started;
}

async function filled(
  dialect: DialectName,
  of: GatewayName,
  rows: GatewayRows,
  without: string[] = [],
): Promise<string> {
  const address = await (await serverOf(dialect)).newDatabase();
  const sql = new SQL({ url: address, max: 1 });
  await fillGateway(async (statement) => void (await sql.unsafe(statement)), { of, dialect, rows, without });
  await sql.close();
  return address;
}

async function read<T>(address: string, use: (tables: Tables) => Promise<T>): Promise<T> {
  const tables = await openTables(address);
  try {
    return await use(tables);
  } finally {
    await tables.stop();
  }
}

const TOKENS = Array.from({ length: 1200 }, (_, i) => ({
  ...{
    id: i + 1,
    user_id: 1,
    key: `K${String(i).padStart(47, "0")}`,
    status: 1,
    name: `key ${i}`,
    expired_time: -1,
  },
  ...{
    remain_quota: 5_000_000_000,
    unlimited_quota: false,
    model_limits_enabled: i === 0,
    model_limits: "gpt-image-2",
  },
  ...{ allow_ips: "10.0.0.1\n10.0.0.2", group: "" },
}));
const NEW_API: GatewayRows = {
  users: [{ id: 1, username: "mary", password: "CANARY", status: 1, quota: 1_000_000, group: "default" }],
  channels: [
    {
      id: 1,
      type: 1,
      key: "sk-up",
      status: 1,
      name: "Main",
      base_url: "",
      models: "gpt-image-2",
      model_mapping: "",
    },
  ],
  tokens: TOKENS,
  options: [{ key: "ModelPrice", value: '{"gpt-image-2":0.05}' }],
};

const readNewApi = (tables: Tables) => readOneApi("new-api", tables);

describe.each([
  ["postgres", HAS_POSTGRES],
  ["mysql", HAS_MARIADB],
] as const)("new-api on %s", (dialect, isHere) => {
  test.skipIf(!isHere)("is read whole, page by page, as from a file", async () => {
    const rows = await read(await filled(dialect, "new-api", NEW_API), readNewApi);
    const found = holdingsOfOneApi("new-api", rows, deps());
    expect(found.keys).toHaveLength(1200);
    expect(found.keys[0]).toMatchObject({
      ...{ hash: hash(`sk-${TOKENS[0]?.key}`), name: "key 0" },
      terms: {
        models: ["gpt-image-2"],
        allowIps: ["10.0.0.1", "10.0.0.2"],
        quota: { limit: 10_000_000_000 },
      },
    });
    expect(found.keys[1]?.terms.models).toBeUndefined();
    expect([...found.accounts].sort((x, y) => (x.name < y.name ? -1 : 1))).toMatchObject([
      { name: "mary", credit: 2_000_000 },
    ]);
    expect(found.prices).toMatchObject([{ amount: 50_000 }]);
    expect(found.providerKeys).toMatchObject([{ provider: "openai", secrets: ["sk-up"] }]);
  });

  test.skipIf(!isHere)(
    "is refused by the name of what it lacks, or with a wrong password, which is not told",
    async () => {
      const address = await filled(dialect, "new-api", NEW_API, ["tokens.unlimited_quota"]);
      await expect(read(address, readNewApi)).rejects.toThrow(/Table tokens of .* has no unlimited_quota/);
      const refusal = await read(address.replace("CANARY-password", "CANARY-wrong"), readNewApi).catch(
        String,
      );
      expect(refusal).toMatch(
        /^UnreadableSource: (postgres|mysql):\/\/127.0.0.1:\d+\/gateway_\d+ cannot be read: /,
      );
      expect(refusal).not.toMatch(/CANARY|admin/);
    },
  );

  test.skipIf(!isHere)("is only read: a session of an import cannot change anything", async () => {
    const address = await filled(dialect, "new-api", NEW_API);
    const tables = await openTables(address);
    const sequence = dialect === "postgres" ? "nextval('counted')" : "nextval(counted)";
    await onceOn(address, "create sequence counted", `create view counting as select ${sequence} as id`);
    // Reading this view would change something.
    const counting = tables.page({ table: "counting", columns: ["id"], by: "id", limit: 1 });
    await expect(counting).rejects.toThrow(/cannot be read: .*read.only/i);
    await tables.stop();
  });
});

test.skipIf(!HAS_POSTGRES)(
  "LiteLLM on PostgreSQL is read with its lists, times, budgets, teams and users",
  async () => {
    const token = (name: string, more: object) => ({
      ...{
        token: hash(`sk-key-of-${name}`),
        key_name: `sk-...${name}`,
        key_alias: name,
        spend: 0.5,
        models: [],
      },
      ...{ aliases: "{}", config: "{}", metadata: "{}", model_max_budget: "{}", allowed_routes: [], ...more },
    });
    const rows: GatewayRows = {
      LiteLLM_VerificationToken: [
        token("a", {
          team_id: "t1",
          models: ["pictures", "chat"],
          budget_id: "b1",
          expires: "2027-01-01 00:00:00",
        }),
        token("b", { user_id: "u1", max_budget: 2, aliases: '{"mine":"pictures"}', rpm_limit: 7 }),
        token("c", { user_id: "default_user_id", blocked: true }),
      ],
      LiteLLM_ProxyModelTable: [
        { model_id: "m1", model_name: "hidden", litellm_params: '{"api_key":"CANARY"}', blocked: false },
      ],
      LiteLLM_TeamTable: [
        { team_id: "t1", team_alias: "Art", max_budget: 100, spend: 40, models: [], blocked: false },
      ],
      LiteLLM_UserTable: [
        {
          user_id: "u1",
          user_email: "u1@example.com",
          password: "CANARY",
          max_budget: 9,
          spend: 0,
          budget_duration: "30d",
        },
      ],
      LiteLLM_BudgetTable: [{ budget_id: "b1", max_budget: 5, budget_duration: "7d", rpm_limit: 3 }],
    };
    const address = await filled("postgres", "litellm", rows);
    const config = readConfig(
      "model_list: [{ model_name: pictures, litellm_params: { model: openai/gpt-image-2 } }]",
      "c",
    );
    const found = holdingsOfLitellm(config, await read(address, readDatabase), deps());
    expect(
      found.keys
        .map(({ name, account, terms }) => ({ name, account, terms }))
        .sort((x, y) => (x.name < y.name ? -1 : 1)),
    ).toEqual([
      {
        ...{ name: "a", account: "team t1" },
        terms: {
          ...{ models: ["gpt-image-2"], aliases: { pictures: "gpt-image-2" }, requestsPerMinute: 3 },
          ...{ quota: { limit: 5_000_000, reset: "weekly" }, expiresAt: Date.UTC(2027, 0, 1) },
        },
      },
      {
        ...{ name: "b", account: "user u1" },
        terms: {
          ...{ aliases: { pictures: "gpt-image-2", mine: "gpt-image-2" }, requestsPerMinute: 7 },
          quota: { limit: 1_500_000, reset: "total" },
        },
      },
    ] as object[] as never);
    expect([...found.accounts].sort((x, y) => (x.name < y.name ? -1 : 1))).toMatchObject([
      { name: "Art", credit: 60_000_000 },
      {
        name: "u1@example.com",
        notes: [expect.stringContaining("its budget for each 30d is a quota of each of its keys")],
      },
    ]);
    expect(found.left.filter(({ kind }) => kind === "model")).toMatchObject([
      { from: "hidden", why: expect.stringContaining("encrypted") },
    ]);
    expect(found.left.filter(({ kind }) => kind === "key")).toMatchObject([
      { from: "c", why: "it is blocked there" },
    ]);
  },
);
