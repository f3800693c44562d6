import { describe, expect, test } from "bun:test";
import type { Row } from "../../src/moving/fields.ts";
import { quotaOf } from "../../src/moving/litellm/budgets.ts";
import { readConfig } from "../../src/moving/litellm/config.ts";
import { holdingsOfLitellm } from "../../src/moving/litellm/read.ts";
import { type LitellmRows, memberOf, readKeyList } from "../../src/moving/litellm/rows.ts";
import { deps, hash } from "./support.ts";

const LITERAL = "sk-CANARY-of-openai-0123456789";

const CONFIG = `
model_list:
  - model_name: pictures
    litellm_params: { model: openai/gpt-image-2, api_key: ${LITERAL}, api_base: https://api.openai.com/v1 }
  - model_name: pictures
    litellm_params: { model: azure/gpt-image-2, api_key: os.environ/AZURE_API_KEY }
    model_info: { mode: image_generation }
  - model_name: mini
    litellm_params: { model: gpt-image-1-mini, api_key: os.environ/OTHER_KEY, rpm: 5 }
  - model_name: chat
    litellm_params: { model: openai/gpt-4o }
  - model_name: old
    litellm_params: { model: openai/dall-e-3, litellm_credential_name: shared }
    model_info: { mode: image_generation }
credential_list:
  - credential_name: shared
    credential_values: { api_key: os.environ/INNER, api_base: https://models.example/v1 }
environment_variables: { INNER: sk-inner-0123456789 }
router_settings: { model_group_alias: { art: pictures, talk: { model: chat } } }
general_settings: { master_key: sk-master-0123456789 }
include: [more.yaml]
`;

function held(text = CONFIG, list?: unknown, mapped = {}) {
  const rows = list === undefined ? undefined : readKeyList(JSON.stringify(list), "keys.json");
  return holdingsOfLitellm(readConfig(text, "config.yaml"), rows, deps(mapped));
}

const row = (more: object = {}) => ({
  ...{ token: hash("sk-key-of-mary"), key_name: "sk-...mary", key_alias: "mary", spend: 2.5, models: [] },
  ...{ max_budget: null, expires: null, user_id: null, team_id: null },
  ...more,
});

describe("models of a configuration of LiteLLM", () => {
  test("are found by their provider's names, or as the operator says, and others are told why not", () => {
    const { aliases, left } = held(CONFIG, [], { old: "sandbox-image" });
    expect(aliases as object).toEqual({
      pictures: "gpt-image-2",
      mini: "gpt-image-1-mini",
      old: "sandbox-image",
      art: "gpt-image-2",
    });
    expect(left.map(({ kind, from }) => `${kind} ${from}`)).toEqual([
      "provider_key variable OTHER_KEY (openai)",
      "setting rpm/tpm of mini (gpt-image-1-mini)",
      "model chat (openai/gpt-4o)",
      "setting include more.yaml",
    ]);
    expect(left[0]?.why).toContain("set OPENAI_API_KEY where the server runs to what OTHER_KEY holds");
    expect(left[2]?.why).toBe("this service makes images and videos, and nothing else");
    expect(held().left.find(({ from }) => from.startsWith("old"))?.why).toContain("--map says which");
  });

  test("bring each literal key once, with the address it is used at, also by way of a credential or a variable", () => {
    expect(held(CONFIG, [], { old: "sandbox-image" }).providerKeys as unknown[]).toEqual([
      {
        provider: "openai",
        name: "litellm-pictures",
        secrets: [LITERAL],
        from: "api_key of pictures",
        baseUrl: "https://api.openai.com/v1",
      },
      {
        provider: "openai",
        name: "litellm-old",
        secrets: ["sk-inner-0123456789"],
        from: "api_key of old",
        baseUrl: "https://models.example/v1",
      },
    ]);
  });

  test.each([
    ["environment_variables: { OPENAI_BASE_URL: https://models.example/v1 }", "openai/gpt-image-2"],
    ["environment_variables: { OPENAI_API_BASE: https://models.example/v1 }", "gpt-image-2"],
    ["litellm_settings: { api_base: https://models.example/v1 }", "openai/gpt-image-2"],
    [
      "environment_variables: { HERE: https://models.example/v1 }\nlitellm_settings: { api_base: os.environ/HERE }",
      "openai/gpt-image-2",
    ],
  ])("are used at an address that stands elsewhere in it: %s", (elsewhere, model) => {
    const models = `model_list: [{ model_name: a, litellm_params: { model: ${model}, api_key: ${LITERAL} } }]`;
    const [key] = held(`${elsewhere}\n${models}`, []).providerKeys;
    expect(key).toMatchObject({ secrets: [LITERAL], baseUrl: "https://models.example/v1" });
    const own = held(models, []).providerKeys[0];
    expect(own).toMatchObject({ secrets: [LITERAL], baseUrl: undefined });
  });

  test("merge what `<<` says, as LiteLLM does, so that no key comes for another address", () => {
    const models = Array.from(
      { length: 300 },
      (_, i) =>
        `  - { model_name: m${i}, litellm_params: { <<: [*azure, *key], model: openai/gpt-image-2 } }`,
    );
    const text = `
at: &azure { api_base: https://models.example/v1, model: azure/gpt-image-2 }
key: &key { api_key: ${LITERAL}, api_base: https://elsewhere.example }
model_list:
${models.join("\n")}
`;
    expect(held(text, []).providerKeys as unknown[]).toMatchObject([
      { provider: "openai", secrets: [LITERAL], baseUrl: "https://models.example/v1" },
    ]);
  });

  test.each([
    ["a list", "- a", "no model_list"],
    [
      "a key that stands twice",
      "model_list: []\nmodel_list: []\n",
      ":2:1 is no YAML that can be read: this key is already in the same mapping.",
    ],
    ["a file cut off in a line", CONFIG.slice(0, 140), "no YAML"],
    ["a file cut off after a dash", "model_list:\n  -", "model_list[0] must be a mapping"],
    [
      "a deployment without a name",
      "model_list: [{ litellm_params: { model: a } }]",
      "model_list[0] has no model_name",
    ],
    ["a deployment without a model", "model_list: [{ model_name: a }]", "has no litellm_params.model"],
    ["models that are no list", "model_list: {}", "must be a list"],
    ["two equal keys", `model_list: []\nmodel_list: [${LITERAL}]`, "config.yaml:2:1"],
  ])("%s is refused, and nothing of it is repeated", (_, text, told) => {
    const read = () => readConfig(text, "config.yaml");
    expect(read).toThrow(told);
    expect(read).not.toThrow(/CANARY/);
  });
});

test("a name with a star stands for each model that its provider makes here, and so do entries of lists", () => {
  const config = `
model_list:
  - { model_name: "openai/*", litellm_params: { model: "openai/*", api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: "drawn-by-*", litellm_params: { model: "recraft/*", api_key: ${LITERAL} } }
  - { model_name: "*", litellm_params: { model: "*" } }
`;
  const [all, some, none] = [[], ["openai/gpt-image-1*"], ["anthropic/*"]].map((models) =>
    held(config, [row({ models })]),
  );
  expect(all?.aliases).toMatchObject({
    "openai/gpt-image-2": "gpt-image-2",
    "openai/gpt-image-1-mini": "gpt-image-1-mini",
    "drawn-by-recraftv3": "recraft-v3",
  });
  expect(all?.providerKeys).toMatchObject([{ provider: "recraft", secrets: [LITERAL] }]);
  expect(all?.left.find(({ from }) => from === "*")?.why).toContain(
    "its star stands for models that are not",
  );
  expect(some?.keys[0]?.terms.models?.map(String).sort()).toEqual(["gpt-image-1-mini", "gpt-image-1.5"]);
  expect(none?.left.find(({ kind }) => kind === "key")?.why).toContain("none of the models");
});

test("of more names of models than a key may have, the first hundred come, and that is told", () => {
  const deployment = (_: unknown, i: number) =>
    `{ model_name: name-${i}, litellm_params: { model: openai/gpt-image-2 } }`;
  const config = `model_list: [${Array.from({ length: 101 }, deployment).join(", ")}]`;
  const [key] = held(config, [row()]).keys;
  expect(Object.keys(key?.terms.aliases ?? {})).toHaveLength(100);
  expect(key?.notes).toEqual(["of 101 names of models, 100 come"]);
});

describe("virtual keys of LiteLLM", () => {
  test("go on by their hashes, with their limits, aliases and models", () => {
    const key = row({
      models: ["pictures"],
      aliases: { mine: "pictures" },
      rpm_limit: "60",
      max_parallel_requests: 3,
      max_budget: 10,
      tpm_limit: 5,
    });
    const [mary] = held(CONFIG, { keys: [key] }).keys;
    expect(mary as object).toEqual({
      origin: `key ${hash("sk-key-of-mary")}`,
      ...{ name: "mary", account: undefined, hash: hash("sk-key-of-mary"), display: "sk-...mary" },
      terms: {
        ...{
          models: ["gpt-image-2"],
          aliases: { pictures: "gpt-image-2" },
          requestsPerMinute: 60,
          concurrency: 3,
        },
        quota: { limit: 7_500_000, reset: "total" },
      },
      notes: ["tokens per minute mean nothing here"],
    });
  });

  test("that stand there in the clear are hashed, and any other gets a new secret", () => {
    const [clear, other] = held(CONFIG, [
      row({ token: "sk-clear-0123456789" }),
      row({ token: "plain text of old" }),
    ]).keys;
    expect(clear).toMatchObject({ hash: hash("sk-clear-0123456789"), display: "sk-cl…6789" });
    expect(other?.hash).toBeUndefined();
    expect(other?.notes).toEqual(["gets a new secret: its own is not kept in a form that can go on"]);
  });

  test("that are blocked, have expired or may use nothing that is here stay there", () => {
    const keys = [
      row({ blocked: true }),
      row({ expires: "2026-11-26T00:00:00" }),
      row({ models: ["chat"] }),
      row({ max_budget: -1 }),
    ];
    const { left, keys: come } = held(CONFIG, keys);
    expect(come.map(({ name }) => name)).toEqual(["master key"]);
    expect(left.filter(({ kind, from }) => kind === "key" && from === "mary").map(({ why }) => why)).toEqual([
      "it is blocked there",
      "it has expired",
      "none of the models that it may use is here",
      "its budget is no amount",
    ]);
  });

  test.each([
    ["hashes alone", [hash("a")], "return_full_object=true"],
    ["a key without its budget", [{ token: "a", models: [] }], "no max_budget, spend"],
    ["a key without a token", [{}], "key 1 has no token"],
  ])("a list of %s is refused", (_, list, told) => {
    expect(() => held(CONFIG, list)).toThrow(told);
  });

  test("of further pages than are given are missed", () => {
    const page = (more: object, ...keys: object[]) => ({ keys, total_count: 2, total_pages: 2, ...more });
    const [one, two] = [
      page({ current_page: 1 }, row()),
      page({ current_page: 2 }, row({ token: hash("b") })),
    ];
    expect(() => held(CONFIG, one)).toThrow("keys.json has 1 of 2 keys. Ask for /key/list");
    expect(held(CONFIG, [one, two]).keys).toHaveLength(3);
  });

  test("that belong to somebody whose terms are in no list of keys may come wider, and that is told", () => {
    const told = (more: object) =>
      held(CONFIG, [row(more)])
        .left.filter(({ from }) => from.startsWith("teams, users"))
        .map(({ why }) => why);
    expect([...told({}), ...told({ user_id: "default_user_id" })]).toEqual([]);
    expect(told({ team_id: "t" })).toEqual([
      expect.stringContaining("a key may come wider than there: --spend reads"),
    ]);
  });

  test("a master key that could be guessed, or is in a variable that is not set, stays there", () => {
    const of = (key: string) => held(`general_settings: { master_key: ${key} }`, []).left.at(-1)?.why;
    expect(of("sk-1234")).toContain("too short");
    expect(of("os.environ/MASTER")).toContain("MASTER: set that variable");
  });
});

describe("whom a virtual key of LiteLLM belongs to", () => {
  const rowsOf = (by: string, ...rows: Row[]) => new Map(rows.map((each) => [String(each[by]), each]));
  const NONE = { max_budget: null, spend: 0, models: [] };
  const TEAM = { ...NONE, team_id: "t", team_alias: "artists" };
  const USER = { ...NONE, user_id: "u" };

  function keyOf(more: object, other: Partial<LitellmRows> = {}) {
    const [user, team] = [rowsOf("user_id", USER), rowsOf("team_id", TEAM)];
    const none = new Map<string, Row>();
    const rows: LitellmRows = {
      ...{ keys: [row(more)], modelNames: [], left: [], teams: team, users: user, budgets: none },
      ...{
        memberships: none,
        teamAliases: none,
        organizations: none,
        projects: none,
        accessGroups: none,
        ...other,
      },
    };
    const { keys, left, accounts } = holdingsOfLitellm(readConfig(CONFIG, "config.yaml"), rows, deps());
    const [key] = keys.filter(({ name }) => name === "mary");
    const why = left.find(({ kind, from }) => kind === "key" && from === "mary")?.why;
    return key === undefined ? { why } : { terms: key.terms, notes: key.notes, accounts };
  }

  test("narrows it by what begins anew, in a minute and at once, the smaller of two", () => {
    const team = {
      ...TEAM,
      ...{ max_budget: 20, spend: 3, budget_duration: "30d", rpm_limit: 5, max_parallel_requests: 2 },
    };
    const teams = rowsOf("team_id", team);
    const { terms, notes, accounts } = keyOf({ team_id: "t", rpm_limit: 60 }, { teams });
    expect(terms).toMatchObject({
      ...{ requestsPerMinute: 5, concurrency: 2 },
      quota: { limit: 20_000_000, reset: "monthly" },
    });
    expect(notes).toEqual(["the budget of its team counts for each key by itself"]);
    expect(accounts).toMatchObject([
      { name: "artists", notes: ["its budget for each 30d is a quota of each of its keys"] },
    ]);
    const own = keyOf({ team_id: "t", max_budget: 1, spend: 0, budget_duration: "24h" }, { teams });
    expect(own.terms?.quota as object).toEqual({ limit: 1_000_000, reset: "monthly" });
    const smaller = keyOf({ team_id: "t", max_budget: 4, spend: 1 }, { teams });
    expect(smaller.terms?.quota as object).toEqual({ limit: 3_000_000, reset: "total" });
  });

  test("and itself may have further budgets, of which none is left out", () => {
    const further = [
      { budget_duration: "24h", max_budget: 3, reset_at: "2026-11-30T00:00:00Z" },
      { budget_duration: "7d", max_budget: 10 },
    ];
    const several = "of its budgets the smallest amount counts, for the longest time";
    for (const budget_limits of [further, JSON.stringify(further)]) {
      const { terms, notes } = keyOf({ budget_limits });
      expect(terms?.quota as object).toEqual({ limit: 3_000_000, reset: "weekly" });
      expect(notes?.[0]).toEndWith(several);
    }
    const teams = rowsOf("team_id", { ...TEAM, budget_limits: further.slice(1) });
    expect(keyOf({ team_id: "t", max_budget: 20 }, { teams }).terms?.quota as object).toEqual({
      ...{ limit: 10_000_000, reset: "total" },
    });
    for (const none of [null, "", "[]", {}, "null"])
      expect(keyOf({ budget_limits: none }).terms?.quota).toBeUndefined();
    const tom = row({ token: hash("sk-key-of-tom"), key_alias: "tom" });
    for (const odd of [{ pictures: 3 }, [{ budget_duration: "1d" }], [3]]) {
      const { why } = keyOf({}, { keys: [row({ budget_limits: odd }), tom] });
      expect(why).toContain("its budget_limits is no list");
    }
  });

  test("gives it other names of models that it may use", () => {
    const teams = rowsOf("team_id", { ...TEAM, model_id: 7, models: ["pictures"] });
    const teamAliases = rowsOf("id", { id: 7, aliases: { art: "pictures", small: "mini", talk: "chat" } });
    const { terms } = keyOf({ team_id: "t" }, { teams, teamAliases });
    expect(terms?.aliases as object).toEqual({ pictures: "gpt-image-2", art: "gpt-image-2" });
    expect(terms?.models?.map(String)).toEqual(["gpt-image-2"]);
  });

  test("has a total as credit of its account, and none of it on the key", () => {
    const users = rowsOf("user_id", { ...USER, max_budget: 20, spend: 5 });
    const { terms, accounts } = keyOf({ user_id: "u" }, { users });
    expect(terms?.quota).toBeUndefined();
    expect(accounts as object).toMatchObject([{ credit: 15_000_000 }]);
  });

  test("limits for single models, of a key or its team, are told to stay", () => {
    const metadata = JSON.stringify({ model_rpm_limit: { pictures: 3 } });
    const note = "limits of requests for single models do not come";
    expect(keyOf({ metadata }).notes).toEqual([note]);
    expect(keyOf({ team_id: "t" }, { teams: rowsOf("team_id", { ...TEAM, metadata }) }).notes).toContain(
      note,
    );
    expect(keyOf({ metadata: { model_rpm_limit: {}, tags: ["a"] } }).notes).toEqual([]);
  });

  test("narrows it by the models and budgets of a project, and of an organization, also of its team's", () => {
    const projects = rowsOf("project_id", {
      ...NONE,
      project_id: "p",
      models: ["mini", "old"],
      budget_id: "b",
    });
    const organizations = rowsOf("organization_id", {
      ...NONE,
      organization_id: "o",
      models: ["mini"],
      spend: 1,
    });
    const budgets = rowsOf("budget_id", { budget_id: "b", max_budget: 2 });
    const found = keyOf({ project_id: "p" }, { projects, organizations, budgets });
    expect(found.terms).toMatchObject({
      models: ["gpt-image-1-mini"],
      quota: { limit: 2_000_000, reset: "total" },
    });
    const teams = rowsOf("team_id", { ...TEAM, organization_id: "o" });
    expect(keyOf({ team_id: "t" }, { teams, organizations }).terms).toMatchObject({
      models: ["gpt-image-1-mini"],
    });
    const blocked = rowsOf("project_id", { ...NONE, project_id: "p", blocked: true });
    expect(keyOf({ project_id: "p" }, { projects: blocked }).why).toBe("its project is blocked there");
    expect(keyOf({ project_id: "gone" }).notes).toEqual(["limits of its project do not come"]);
  });

  test("narrows it by what its user has in its team", () => {
    const memberships = new Map([[memberOf({ user_id: "u", team_id: "t" }), { budget_id: "b", spend: 1 }]]);
    const budgets = rowsOf("budget_id", {
      ...{ budget_id: "b", max_budget: 3, rpm_limit: 4, allowed_models: ["mini"] },
    });
    const found = keyOf({ user_id: "u", team_id: "t" }, { memberships, budgets });
    expect(found.terms).toMatchObject({
      ...{ models: ["gpt-image-1-mini"], requestsPerMinute: 4, quota: { limit: 2_000_000, reset: "total" } },
    });
    expect(found.notes).toEqual(["the budget of its place in its team counts for each key by itself"]);
    expect(keyOf({ user_id: "other", team_id: "t" }, { memberships, budgets }).terms?.quota).toBeUndefined();
  });

  test("says by access groups which models it may use, where it has no list of its own", () => {
    const accessGroups = rowsOf("access_group_id", { access_group_id: "g", access_model_names: ["mini"] });
    const own = { access_group_ids: ["g"] };
    expect(keyOf(own, { accessGroups }).terms?.models?.map(String)).toEqual(["gpt-image-1-mini"]);
    const both = keyOf({ ...own, models: ["pictures"] }, { accessGroups });
    expect(both.terms?.models?.map(String)).toEqual(["gpt-image-2", "gpt-image-1-mini"]);
    expect(keyOf(own).why).toContain("an access group that says which models it may use is not there");
  });

  test.each([
    [["management_routes"], "no path that it may call makes pictures or videos"],
    [["info_routes", "/key/*"], "no path that it may call makes pictures or videos"],
    [["llm_api_routes"], undefined],
    [["/v1/chat/completions", "/v1/images/*"], undefined],
    [["/videos"], undefined],
  ])("a key for the paths %p comes only if some make pictures or videos", (allowed_routes, why) => {
    expect(keyOf({ allowed_routes }).why).toBe(why);
  });

  test.each(["rpm_limit", "max_parallel_requests"])("a key with a %s of 0 stays there", (column) => {
    expect(keyOf({ [column]: 0 }).why).toBe(`with a ${column} of 0 it may do nothing`);
  });
});

test.each([
  [{ max_budget: 10, spend: 12 }, 0, "total"],
  [{ max_budget: 0.29, spend: 0 }, 290_000, "total"],
  [{ max_budget: 10, spend: 3, budget_duration: "24h" }, 10_000_000, "daily"],
  [{ max_budget: 10, spend: 3, budget_duration: "1h" }, 10_000_000, "daily"],
  [{ max_budget: 10, spend: 3, budget_duration: "2d" }, 10_000_000, "weekly"],
  [{ max_budget: 10, spend: 3, budget_duration: "30d" }, 10_000_000, "monthly"],
  [{ max_budget: 10, spend: 3, budget_duration: "1mo" }, 10_000_000, "monthly"],
  [{ max_budget: 10, spend: 3, budget_duration: "90d" }, 7_000_000, "total"],
  [{ max_budget: 10, spend: 3, budget_duration: "soon" }, 7_000_000, "total"],
])("the budget %p becomes a quota that is never looser", (budget, limit, reset) => {
  expect(quotaOf(budget)).toMatchObject({ limit, reset });
});
