import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holdingsOfOneApi } from "../../src/moving/one-api/read.ts";
import { type OneApiKind, readOneApi } from "../../src/moving/one-api/rows.ts";
import { openTables } from "../../src/moving/tables/open.ts";
import { type GatewayRows, sqliteGateway } from "../helpers/gateways.ts";
import { deps, emptyFolder, hash } from "./support.ts";

const BODY = "A".repeat(47);
const token = (id: number, more: object = {}) => ({
  ...{
    id,
    user_id: 1,
    key: `${BODY}${id}`,
    status: 1,
    name: `token ${id}`,
    expired_time: -1,
    remain_quota: 750_000,
  },
  ...{ unlimited_quota: false, ...more },
});
const channel = (id: number, more: object = {}) => ({
  ...{
    id,
    type: 1,
    key: `sk-upstream-${id}`,
    status: 1,
    name: `Main ${id}`,
    base_url: "",
    models: "gpt-4o,gpt-image-2",
    model_mapping: "",
  },
  ...more,
});
const user = (id: number, more: object = {}) => ({
  id,
  username: `user${id}`,
  password: "x",
  status: 1,
  quota: 5_000_000,
  group: "default",
  ...more,
});

async function read(kind: OneApiKind, rows: GatewayRows, mapped = {}) {
  const path = await sqliteGateway(join(emptyFolder(), "a.db"), { of: kind, rows });
  const tables = await openTables(path);
  try {
    return holdingsOfOneApi(kind, await readOneApi(kind, tables), deps(mapped));
  } finally {
    await tables.stop();
  }
}

describe("new-api", () => {
  test("tokens go on as sk- and what is stored, with quota, addresses, models, group and account", async () => {
    const tokens = [
      token(1, {
        allow_ips: "10.0.0.1\n10.1.0.0/16",
        model_limits_enabled: true,
        model_limits: "gpt-image-2,gpt-4o",
        group: "vip",
      }),
      token(2, { unlimited_quota: true, remain_quota: 0, expired_time: 1_900_000_000 }),
    ];
    const options = [
      { key: "GroupRatio", value: '{"default":1,"vip":0.8}' },
      { key: "SMTPToken", value: "CANARY" },
    ];
    const found = await read("new-api", {
      channels: [channel(1, { group: "default,vip" })],
      tokens,
      users: [user(1), user(2)],
      options,
    });
    expect(found.keys).toMatchObject([
      {
        ...{
          origin: `key ${hash(`sk-${BODY}1`)}`,
          hash: hash(`sk-${BODY}1`),
          name: "token 1",
          account: "user 1",
        },
        terms: {
          ...{ models: ["gpt-image-2"], allowIps: ["10.0.0.1", "10.1.0.0/16"], priceMultiplier: 800_000 },
          quota: { limit: 1_500_000, reset: "total" },
        },
      },
      { hash: hash(`sk-${BODY}2`), terms: { expiresAt: 1_900_000_000_000 } },
    ]);
    expect(found.keys[1]?.terms.quota).toBeUndefined();
    expect(found.accounts).toMatchObject([{ origin: "user 1", name: "user1", credit: 10_000_000 }]);
    expect(JSON.stringify(found)).not.toMatch(/CANARY|"x"/);
  });

  test("tokens that are off, used up, expired, deleted or for other models stay there", async () => {
    const tokens = [
      token(1, { status: 4 }),
      token(2, { expired_time: 1_700_000_000 }),
      token(3, { deleted_at: "2026-01-01 00:00:00" }),
      token(4, { model_limits_enabled: true, model_limits: "gpt-4o" }),
      // Its list of models is switched on and empty, so that it may use none.
      token(5, { model_limits_enabled: true, model_limits: "" }),
    ];
    const found = await read("new-api", { channels: [channel(1)], tokens, users: [user(1)] });
    expect(found.keys).toEqual([]);
    expect(found.left.map(({ why }) => why)).toEqual([
      "it is used up there",
      "it has expired",
      "none of the models that it may use is here",
      "none of the models that it may use is here",
    ]);
  });

  test("channels become accounts of providers, each of several keys its own, and what cannot come says why", async () => {
    const channels = [
      channel(1, { key: "sk-one\nsk-two" }),
      channel(2, { status: 2 }),
      channel(3, { type: 14, models: "claude" }),
      channel(4, {
        type: 50,
        key: "access|secret",
        models: "mine",
        model_mapping: '{"mine":"kling-v3-image"}',
        name: "可灵",
      }),
      channel(5, { type: 3, models: "gpt-image-2" }),
    ];
    const { providerKeys, left } = await read("new-api", { channels }, { "gpt-image-2": "gpt-image-2" });
    expect(providerKeys).toMatchObject([
      { provider: "openai", name: "main-1-1", secrets: ["sk-one"], from: "channel 1 (Main 1), key 1" },
      { provider: "openai", name: "main-1-2", secrets: ["sk-two"] },
      {
        provider: "kling",
        name: "channel-4",
        secrets: ["access", "secret"],
        baseUrl: "https://api.klingai.com",
      },
    ]);
    expect(left.map(({ from, why }) => `${from}: ${why}`)).toEqual([
      "channel 2 (Main 2): it is switched off there",
      "channel 3 (Main 3): this service has no models of it: it makes images and videos, and nothing else",
      "channel 5 (Main 5): there is no provider here that is Azure",
    ]);
  });

  test("a channel's keys that are switched off stay there, and the others keep their numbers", async () => {
    const info = { is_multi_key: true, multi_key_size: 3, multi_key_status_list: { 1: 2 } };
    const channels = [channel(1, { key: "sk-one\nsk-two\nsk-three", channel_info: JSON.stringify(info) })];
    const { providerKeys, left } = await read("new-api", { channels });
    expect(providerKeys.map(({ name, secrets }) => [name, ...secrets])).toEqual([
      ["main-1-1", "sk-one"],
      ["main-1-3", "sk-three"],
    ]);
    expect(left).toEqual([
      { kind: "provider_key", from: "channel 1 (Main 1), key 2", why: "it is switched off there" },
    ]);
  });

  test("an empty line among a channel's keys counts for the place of those after it", async () => {
    const info = { is_multi_key: true, multi_key_status_list: { 2: 2 } };
    const channels = [
      channel(1, { key: "\nsk-one\n\nsk-two\nsk-three", channel_info: JSON.stringify(info) }),
    ];
    const { providerKeys } = await read("new-api", { channels });
    expect(providerKeys.map(({ secrets }) => secrets)).toEqual([["sk-one"], ["sk-three"]]);
  });

  describe("a group", () => {
    const options = [
      { key: "GroupRatio", value: '{"default":1,"vip":0.5,"plus":1,"free":0}' },
      { key: "GroupGroupRatio", value: '{"vip":{"plus":0.25}}' },
      { key: "AutoGroups", value: '["hidden","plus","default"]' },
      { key: "UserUsableGroups", value: '{"default":"","plus":""}' },
    ];
    const channels = [
      channel(1, { models: "gpt-image-2,gpt-image-1-mini", group: "default" }),
      channel(2, { models: "gpt-image-1.5", group: "vip, plus" }),
    ];
    const users = [user(1, { group: "vip" }), user(2, { group: "free" })];
    const of = async (group: string | null, more: object = {}, user_id = 1) => {
      const tokens = [token(1, { group, user_id, ...more })];
      const { keys, left } = await read("new-api", { channels, tokens, users, options });
      const [key] = keys;
      return key === undefined
        ? left.map(({ why }) => why)
        : {
            models: key.terms.models?.map(String),
            multiplier: key.terms.priceMultiplier,
            notes: key.notes,
          };
    };

    test("narrows a token to what its channels have, and sets what it pays in place of its user's", async () => {
      const none = { multiplier: undefined, notes: [] };
      expect(await of("")).toEqual({ ...none, models: ["gpt-image-1.5"] });
      expect(await of("default")).toEqual({
        ...none,
        models: ["gpt-image-2", "gpt-image-1-mini"],
        multiplier: 1_000_000,
      });
      expect(await of("plus")).toEqual({ ...none, models: ["gpt-image-1.5"], multiplier: 250_000 });
      expect(await of("plus", {}, 2)).toMatchObject({ models: ["gpt-image-1.5"], multiplier: undefined });
    });

    test("that its user may not choose leaves a token there, unless it is given to the user's group", async () => {
      expect(await of("vip", {}, 2)).toEqual(["none of its group's models is here"]);
      const special = {
        key: "group_ratio_setting.group_special_usable_group",
        value: '{"free":{"+:vip":""}}',
      };
      options.push(special);
      expect(await of("vip", {}, 2)).toMatchObject({ models: ["gpt-image-1.5"] });
      options.splice(options.indexOf(special), 1);
    });

    test("that has no ratio any more leaves a token there", async () => {
      const tokens = [token(1, { group: "plus" })];
      const of = async (value: string) => {
        const changed = [
          ...options.filter(({ key }) => key !== "GroupRatio"),
          ...[{ key: "GroupRatio", value }],
        ];
        return (await read("new-api", { channels, tokens, users, options: changed })).keys.length;
      };
      expect(await of('{"default":1,"plus":1}')).toBe(1);
      expect(await of('{"default":1}')).toBe(0);
      expect(await of("{}")).toBe(0);
    });

    test("may be chosen by nobody where the option has none", async () => {
      const found = await read("new-api", {
        ...{ channels, users: [user(2)], tokens: [token(1, { group: "vip", user_id: 2 })] },
        options: [{ key: "UserUsableGroups", value: "{}" }],
      });
      expect(found.keys).toEqual([]);
    });

    test("that is a list of groups opens what they have together, and the first says what it pays", async () => {
      const notes = ["its group is one of several there: it pays as in plus"];
      expect(await of("auto")).toEqual({ models: undefined, multiplier: 250_000, notes });
    });

    test("without a channel for what a token may use leaves it there", async () => {
      const limits = { model_limits_enabled: true, model_limits: "gpt-image-2" };
      expect(await of("vip", limits)).toEqual(["none of the models that it may use is here"]);
      expect(await of("other")).toEqual(["none of its group's models is here"]);
    });

    test("whose ratio is none here pays in full, and that is told", async () => {
      const note = "the ratio 0 of its group is none that there is here: it pays prices in full";
      expect(await of("free")).toMatchObject(["none of its group's models is here"]);
      const { accounts } = await read("new-api", {
        ...{ channels, options, users },
        tokens: [token(1, { group: "default", user_id: 2 })],
      });
      expect(accounts).toMatchObject([{ name: "user2", notes: [note] }]);
      expect(accounts[0]?.priceMultiplier).toBeUndefined();
    });
  });

  test("a name of a model means what it does at the channel that is asked first", async () => {
    const named = (id: number, upstream: string, more: object) =>
      channel(id, { models: "pictures", model_mapping: JSON.stringify({ pictures: upstream }), ...more });
    const channels = [
      named(1, "gpt-image-2", { priority: 1 }),
      named(2, "gpt-image-1-mini", { priority: 10 }),
      named(3, "gpt-image-1.5", { priority: 20, group: "vip" }),
    ];
    const tokens = [token(1), token(2, { group: "vip" })];
    const { keys } = await read("new-api", { channels, tokens, users: [user(1)] });
    expect(keys.map(({ terms }) => terms.aliases as object)).toEqual([
      { pictures: "gpt-image-1-mini" },
      { pictures: "gpt-image-1.5" },
    ]);
  });

  test("prices of calls come, and ratios of tokens do not", async () => {
    const options = [
      { key: "ModelPrice", value: '{"gpt-image-2":0.05,"gpt-4o":1}' },
      { key: "ModelRatio", value: '{"gpt-image-1-mini":2.5}' },
    ];
    const channels = [channel(1, { models: "gpt-image-2,gpt-image-1-mini" })];
    const { prices, left } = await read("new-api", { channels, options });
    expect(prices as unknown[]).toEqual([
      { model: "gpt-image-2", amount: 50_000, from: "price of gpt-image-2" },
    ]);
    expect(left).toMatchObject([{ kind: "price", from: "price of gpt-image-1-mini" }]);
  });
});

test("one-api's lists of models and networks, and its ratios of pictures, come", async () => {
  const options = [
    { key: "ModelRatio", value: '{"gpt-image-2":20}' },
    { key: "QuotaPerUnit", value: "1000000" },
  ];
  const tokens = [token(1, { models: "gpt-image-2", subnet: "192.168.0.0/24,10.0.0.0/8" })];
  const found = await read("one-api", {
    channels: [channel(1)],
    tokens,
    users: [user(1, { status: 2 })],
    options,
  });
  expect(found.keys[0]?.terms).toMatchObject({
    models: ["gpt-image-2"],
    allowIps: ["192.168.0.0/24", "10.0.0.0/8"],
    quota: { limit: 750_000 },
  });
  expect(found.accounts).toMatchObject([{ credit: 5_000_000, isSuspended: true }]);
  expect(found.prices).toMatchObject([{ amount: 20_000 }]);
});

describe("a database", () => {
  const refusal = (path: string) =>
    openTables(path).then((tables) => readOneApi("new-api", tables).finally(tables.stop));
  const rows = { channels: Array.from({ length: 400 }, (_, i) => channel(i + 1)) };

  test("that lacks a column which is needed is refused by its name, and one without another column is read", async () => {
    const path = join(emptyFolder(), "a.db");
    await sqliteGateway(path, { of: "new-api", rows, without: ["tokens.remain_quota"] });
    await expect(refusal(path)).rejects.toThrow(
      /Table tokens of .* has no remain_quota: its version is older or newer/,
    );
    const other = join(emptyFolder(), "b.db");
    await sqliteGateway(other, {
      of: "new-api",
      rows,
      without: ["tokens.allow_ips", "channels.model_mapping"],
    });
    expect((await refusal(other)).channels).toHaveLength(400);
  });

  test("that is half of a file, another file, or not there, is refused", async () => {
    const folder = emptyFolder();
    const whole = readFileSync(await sqliteGateway(join(folder, "a.db"), { of: "new-api", rows }));
    writeFileSync(join(folder, "half.db"), whole.subarray(0, whole.length / 2));
    writeFileSync(join(folder, "text.db"), "hello");
    await expect(refusal(join(folder, "half.db"))).rejects.toThrow(/not whole|cannot be read/);
    await expect(refusal(join(folder, "text.db"))).rejects.toThrow("is no database of SQLite");
    await expect(refusal(join(folder, "none.db"))).rejects.toThrow("there is no such file or folder");
    await expect(refusal("redis://:CANARY@127.0.0.1/0")).rejects.toThrow(
      /^The address of the database must be/,
    );
    const nobody = refusal("postgres://u:CANARY@127.0.0.1:1/db");
    await expect(nobody).rejects.toThrow(/^postgres:\/\/127.0.0.1:1\/db cannot be read: (?!.*CANARY)/);
  });
});
