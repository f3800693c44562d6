import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/moving/litellm/config.ts";
import { holdingsOfLitellm } from "../../src/moving/litellm/read.ts";
import { readDatabase } from "../../src/moving/litellm/rows.ts";
import { holdingsOfOneApi } from "../../src/moving/one-api/read.ts";
import { type OneApiKind, readOneApi } from "../../src/moving/one-api/rows.ts";
import { openTables } from "../../src/moving/tables/open.ts";
import { type GatewayName, type GatewayRow, type GatewayRows, sqliteGateway } from "../helpers/gateways.ts";
import { deps, emptyFolder, hash } from "./support.ts";

const CHANNEL = { id: 1, type: 1, key: "sk-CANARY-up", status: 1, name: "Main", models: "gpt-image-2" };
const USER = { id: 1, username: "user1", status: 1, quota: 5_000_000, group: "default" };
const token = (id: number, more: GatewayRow = {}): GatewayRow => ({
  ...{ id, user_id: 1, key: `CANARY${"A".repeat(41)}${id}`, status: 1, name: `token ${id}` },
  ...{ expired_time: -1, remain_quota: 750_000, unlimited_quota: false, ...more },
});
const key = (name: string, more: GatewayRow = {}): GatewayRow => ({
  ...{ token: hash(`sk-CANARY-${name}`), key_alias: name, spend: 0, models: [], ...more },
});

interface Shape {
  readonly renamed?: Readonly<Record<string, string>>;
  /** Statements that a version which nobody knows would have run. */
  readonly changes?: readonly string[];
}

async function gateway(of: GatewayName, rows: GatewayRows, { renamed = {}, changes = [] }: Shape = {}) {
  const path = await sqliteGateway(join(emptyFolder(), "gateway.db"), { of, rows, renamed });
  const db = new Database(path);
  for (const statement of changes) db.run(statement);
  db.close();
  return path;
}

async function oneApi(kind: OneApiKind, tokens: readonly GatewayRow[], shape?: Shape) {
  const rows = { channels: [CHANNEL], users: [USER], tokens };
  const tables = await openTables(await gateway(kind, rows, shape));
  return holdingsOfOneApi(kind, await readOneApi(kind, tables).finally(tables.stop), deps());
}

async function litellm(rows: GatewayRows, shape?: Shape) {
  const tables = await openTables(await gateway("litellm", rows, shape));
  const config = readConfig(
    "model_list: [{ model_name: pictures, litellm_params: { model: openai/gpt-image-2 } }]",
    "config.yaml",
  );
  return holdingsOfLitellm(config, await readDatabase(tables).finally(tables.stop), deps());
}
const keysOf = (keys: readonly GatewayRow[], shape?: Shape) =>
  litellm({ LiteLLM_VerificationToken: keys }, shape);

describe("a column that narrows keys and has another name", () => {
  test.each(["model_limits_enabled", "model_limits", "allow_ips", "deleted_at"])(
    "is refused, new-api's %s, by both names and with what to do",
    async (column) => {
      const told = oneApi("new-api", [token(1)], { renamed: { [`tokens.${column}`]: "v2_name" } });
      await expect(told).rejects.toThrow(
        new RegExp(`^Table tokens of .*gateway.db has no ${column}, but v2_name, .*rename it in a copy`),
      );
    },
  );

  test.each(["models", "subnet"])("is refused, one-api's %s", async (column) => {
    const told = oneApi("one-api", [token(1)], { renamed: { [`tokens.${column}`]: "v2_name" } });
    await expect(told).rejects.toThrow(`has no ${column}, but v2_name`);
  });

  test.each(["blocked", "rpm_limit", "max_parallel_requests", "budget_duration", "budget_id"])(
    "is refused, LiteLLM's %s",
    async (column) => {
      const renamed = { [`LiteLLM_VerificationToken.${column}`]: "v2_name" };
      await expect(keysOf([key("mary")], { renamed })).rejects.toThrow(`has no ${column}, but v2_name`);
    },
  );

  test("is refused where it is always there, and where a whole table has another name", async () => {
    const renamed = { "tokens.expired_time": "expires_at" };
    await expect(oneApi("new-api", [token(1)], { renamed })).rejects.toThrow(
      /has no expired_time: .*rename it/,
    );
    const changes = ["alter table tokens rename to tokens_v2"];
    await expect(oneApi("new-api", [token(1)], { changes })).rejects.toThrow(
      /no table tokens\. Is it the right/,
    );
  });
});

test("further columns of keys are told by name, further tables and columns of others change nothing", async () => {
  const changes = ["alter table tokens add column night_only text", "create table tokens_v2 (id integer)"];
  const found = await oneApi("new-api", [token(1)], {
    changes: [...changes, "alter table users add column x text"],
  });
  expect(found.keys).toHaveLength(1);
  expect(found.left).toEqual([
    {
      kind: "setting",
      from: "table tokens: night_only",
      why: expect.stringContaining("see whether they narrow"),
    },
  ]);
  const added = ['alter table "LiteLLM_VerificationToken" add column night_only text'];
  const other = await keysOf([key("mary")], { changes: added });
  expect(other.left.map(({ from }) => from)).toEqual(["table LiteLLM_VerificationToken: night_only"]);
});

describe("a value of another kind", () => {
  const tokens: readonly [column: string, value: string | number, why: string][] = [
    ["status", "enabled", "its status is no whole number that can be read"],
    ["status", 9, "its status is 9, which no known version has"],
    ["expired_time", "2026-12-31", "its expired_time is no whole number that can be read"],
    ["expired_time", 1_900_000_000_000, "its expired_time is no time in seconds that can be read"],
    ["expired_time", 0, "it has expired"],
    ["unlimited_quota", "maybe", "its unlimited_quota is no truth value that can be read"],
    ["model_limits_enabled", "strict", "its model_limits_enabled is no truth value that can be read"],
    ["remain_quota", "lots", "its quota is no amount"],
    ["allow_ips", '{"only":"10.0.0.1"}', "its allow_ips is no list of texts that can be read"],
  ];
  test.each(tokens)("in new-api's %s, %p, leaves the token there and says so", async (column, value, why) => {
    const { keys, left } = await oneApi("new-api", [token(1, { [column]: value }), token(2)]);
    expect(keys.map(({ name }) => name)).toEqual(["token 2"]);
    expect(left.map((each) => each.why)).toEqual([expect.stringContaining(why)]);
    expect(JSON.stringify(left)).not.toContain("CANARY");
  });

  const virtual: readonly [column: string, value: string, why: string][] = [
    ["expires", "next spring", "its expires is no time that can be read"],
    ["blocked", "perhaps", "its blocked is no truth value that can be read"],
    ["rpm_limit", "60 a minute", "its rpm_limit is no whole number that can be read"],
    ["max_parallel_requests", "few", "its max_parallel_requests is no whole number that can be read"],
    ["models", '{"only":["pictures"]}', "its models is no list of texts that can be read"],
    ["budget_id", "gone", "the budget that it refers to is not there"],
  ];
  test.each(virtual)("in LiteLLM's %s, %p, leaves the key there and says so", async (column, value, why) => {
    const { keys, left } = await keysOf([key("mary", { [column]: value }), key("tom")]);
    expect(keys.map(({ name }) => name)).toEqual(["tom"]);
    expect(left.map((each) => each.why)).toEqual([expect.stringContaining(why)]);
  });

  test("in a column of every row is another version, which is refused", async () => {
    const all = [1, 2].map((id) => token(id, { status: "enabled" }));
    await expect(oneApi("new-api", all)).rejects.toThrow("No status in table tokens can be read");
    const keys = ["mary", "tom"].map((name) => key(name, { expires: "spring" }));
    await expect(keysOf(keys)).rejects.toThrow("No expires in the keys can be read");
  });

  test("of a channel's type or status leaves the channel there", async () => {
    const channels = [
      { ...CHANNEL, status: 7 },
      { ...CHANNEL, id: 2, type: 999, name: "New" },
    ];
    const tables = await openTables(await gateway("new-api", { channels, users: [USER], tokens: [] }));
    const rows = await readOneApi("new-api", tables).finally(tables.stop);
    const { providerKeys, left } = holdingsOfOneApi("new-api", rows, deps({ "gpt-image-2": "gpt-image-2" }));
    expect(providerKeys).toEqual([]);
    expect(left.map(({ why }) => why)).toEqual([
      "its status is none that a known version has",
      "there is no provider here that is of type 999",
    ]);
  });
});

describe("a team of LiteLLM", () => {
  const team = (more: GatewayRow) => ({ team_id: "t", team_alias: "team", spend: 0, ...more });
  const of = async (more: GatewayRow, keys: readonly GatewayRow[]) =>
    litellm({
      LiteLLM_VerificationToken: keys.map((each) => ({ ...each, team_id: "t" })),
      LiteLLM_TeamTable: [team(more)],
    });

  test("narrows the models of its keys", async () => {
    const keys = [
      key("mary"),
      key("tom", { models: ["all-team-models"] }),
      key("ann", { models: ["pictures"] }),
    ];
    expect((await of({ models: ["chat"] }, keys)).keys).toEqual([]);
    const found = await of({ models: ["pictures", "chat"] }, keys);
    expect(found.keys.map(({ terms }) => terms.models as unknown)).toEqual(Array(3).fill(["gpt-image-2"]));
    const open = await of({ models: ["all-proxy-models"] }, [key("mary")]);
    expect(open.keys[0]?.terms.models).toBeUndefined();
  });

  test("has no credit where its budget cannot be read, is suspended where that cannot be, and told where it is not there", async () => {
    const [account] = (await of({ max_budget: "lots", blocked: "perhaps" }, [key("mary")])).accounts;
    expect(account).toMatchObject({ credit: 0, isSuspended: true });
    expect(account?.notes).toHaveLength(2);
    const gone = await keysOf([key("mary", { team_id: "gone" })]);
    expect(gone.accounts).toMatchObject([{ notes: ["nothing more is known of it: it has no budget here"] }]);
  });
});

describe("half of a file", () => {
  test("is refused wherever a database is cut", async () => {
    const tokens = Array.from({ length: 300 }, (_, i) => token(i + 1));
    const whole = readFileSync(await gateway("new-api", { channels: [CHANNEL], users: [USER], tokens }));
    const path = join(emptyFolder(), "cut.db");
    for (let size = 0; size < whole.length; size += 2048) {
      writeFileSync(path, whole.subarray(0, size));
      const told = await openTables(path).then(
        (tables) => readOneApi("new-api", tables).finally(tables.stop),
        String,
      );
      expect([size, String(told)]).toEqual([
        size,
        expect.stringMatching(/cut.db (cannot be read|is no database|is damaged)/),
      ]);
    }
  });

  test("of a database that was filled from half of a dump has keys that are nobody's, which stay there", async () => {
    const changes = ["delete from users", "delete from channels"];
    const found = await oneApi("new-api", [token(1)], { changes });
    expect(found.accounts).toEqual([]);
    const dump = join(emptyFolder(), "dump.sql");
    writeFileSync(dump, "CREATE TABLE tokens (key text);\nINSERT INTO tokens VALUES ('CANARY");
    await expect(openTables(dump)).rejects.toThrow(/dump.sql is no database of SQLite\. Load a dump into/);
  });

  test("of a configuration is refused by its place, wherever it is cut within an entry", () => {
    const entry = "  - model_name: pictures\n    litellm_params: { model: openai/x, api_key: 'sk-CANARY' }\n";
    const text = `model_list:\n${entry}`;
    for (let size = 0; size < text.length - 1; size++) {
      const cut = text.slice(0, size);
      // A whole list without entries is one.
      if (/^model_list:\s*(-\s*)?$/.test(cut) && !cut.includes("-")) continue;
      expect(() => readConfig(cut, "config.yaml")).toThrow(/^config\.yaml\b(?!.*CANARY).*\?$/);
    }
  });
});
