import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigSources, loadConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problem.ts";
import type { ProviderSettings } from "../../src/config/settings.ts";
import { fal } from "../../src/providers/fal/definition.ts";
import { accountSettings } from "../../src/providers/kit/account-settings.ts";
import { sandbox } from "../../src/providers/sandbox/definition.ts";

const acme: ProviderSettings = {
  id: "acme",
  settings: () =>
    accountSettings({
      ...{ id: "acme", title: "Acme", base: "https://api.acme.example/v1", regions: ["eu", "us"] },
      ...{ variables: { access_key: "ACME_ACCESS_KEY", secret_key: "ACME_SECRET_KEY" }, concurrency: 4 },
    }),
};
const house: ProviderSettings = {
  id: "house",
  kinds: [["key"], []],
  settings: () =>
    accountSettings({
      ...{ id: "house", title: "House", base: "http://127.0.0.1:9000", regions: [] },
      ...{ variables: { key: "HOUSE_KEY" }, concurrency: 1 },
    }),
  isKeyless: ({ baseUrl }) => baseUrl !== undefined,
};
const PROVIDERS = [sandbox, fal, acme, house];
const SECRET = "sk-live-0123456789abcdef";

const workspace = mkdtempSync(join(tmpdir(), "svc-accounts-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

function load(yaml: string, sources: Partial<ConfigSources> = {}) {
  const cwd = mkdtempSync(join(workspace, "folder-"));
  mkdirSync(join(cwd, "svc-data"));
  writeFileSync(join(cwd, "svc-data/svc.yaml"), yaml);
  return loadConfig({ cwd, cores: 4, providers: PROVIDERS, isServing: true, ...sources });
}

/** The problems, a line each, from the settings file's name on, without line and column. */
function problemsOf(yaml: string, sources: Partial<ConfigSources> = {}): string[] {
  try {
    load(yaml, sources);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message).not.toContain(SECRET);
    return error.message
      .split("\n")
      .map((line) => line.replaceAll(/\S*\/svc-data\//g, "").replace(/^(svc\.yaml):\d+:\d+:/, "$1:"));
  }
  return [];
}

/** Each account's lane, and its secrets in the clear. */
function accountsOf(yaml: string, id: string, sources: Partial<ConfigSources> = {}) {
  return (load(yaml, sources).accounts[id] ?? []).map(({ lane, secrets }) => [
    String(lane),
    secrets && Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()])),
  ]);
}

const TWO =
  "providers: {fal: {accounts: [{name: main, key_env: MAIN_KEY}, {name: second, key_env: SECOND_KEY}]}}";
const env = { MAIN_KEY: "key-1", SECOND_KEY: "key-2" };

describe("accounts", () => {
  test("are what the settings file lists", () => {
    expect(accountsOf(TWO, "fal", { env })).toEqual([
      ["fal/main", { key: "key-1" }],
      ["fal/second", { key: "key-2" }],
    ]);
  });

  test("of a customary variable are the default one, beside those of the file", () => {
    expect(accountsOf("", "fal", { env: { FAL_KEY: "key-0" } })).toEqual([["fal", { key: "key-0" }]]);
    expect(accountsOf(TWO, "fal", { env: { ...env, FAL_KEY: "key-0" } }).map(([lane]) => lane)).toEqual([
      ...["fal", "fal/main", "fal/second"],
    ]);
  });

  test("that name the customary variable take it for themselves", () => {
    const yaml = "providers: {fal: {accounts: [{name: main, key_env: FAL_KEY}]}}";
    expect(accountsOf(yaml, "fal", { env: { FAL_KEY: "key-0" } })).toEqual([["fal/main", { key: "key-0" }]]);
  });

  test("have all their secrets, by the provider's own names", () => {
    const both = { ACME_ACCESS_KEY: "a", ACME_SECRET_KEY: "s" };
    expect(accountsOf("", "acme", { env: both })).toEqual([["acme", { access_key: "a", secret_key: "s" }]]);
    const half = { env: { ACME_ACCESS_KEY: "a" } };
    expect(accountsOf("", "acme", half)).toEqual([]);
    expect(load("", half).warnings).toEqual(["acme: ACME_ACCESS_KEY does nothing without ACME_SECRET_KEY."]);
    const yaml = "providers: {acme: {accounts: [{name: b, key_env: {access_key: A2, secret_key: S2}}]}}";
    expect(accountsOf(yaml, "acme", { env: { A2: "x", S2: "y" } })).toEqual([
      ["acme/b", { access_key: "x", secret_key: "y" }],
    ]);
  });

  test("have settings of their own", () => {
    const yaml = `
providers:
  acme:
    accounts:
      - name: eu
        key_env: { access_key: A2, secret_key: S2 }
        base_url: http://127.0.0.1:1234
        region: eu
        concurrency: 3
        submits_per_minute: 30
        polls_per_second: 0.5
        on_unknown: resubmit
        proxy: http://user:password@proxy.example:3128
`;
    const { acme } = load(yaml, { env: { A2: "x", S2: "y" } }).accounts;
    expect(acme).toMatchObject([
      {
        ...{ name: "eu", baseUrl: "http://127.0.0.1:1234", region: "eu", concurrency: 3 },
        ...{ submitsPerMinute: 30, pollsPerSecond: 0.5, onUnknown: "resubmit" },
      },
    ]);
    expect(acme?.[0]?.proxy?.reveal()).toBe("http://user:password@proxy.example:3128");
    expect(JSON.stringify(acme) + Bun.inspect(acme)).not.toContain("password");
  });

  test("take their key from a file beside the settings file, and one that others can read is told", () => {
    const cwd = mkdtempSync(join(workspace, "folder-"));
    mkdirSync(join(cwd, "svc-data"));
    writeFileSync(join(cwd, "svc-data/fal.key"), "  key-3\n");
    chmodSync(join(cwd, "svc-data/fal.key"), 0o644);
    writeFileSync(
      join(cwd, "svc-data/svc.yaml"),
      "providers: {fal: {accounts: [{name: default, key_file: fal.key}]}}",
    );
    const config = loadConfig({ cwd, cores: 4, providers: PROVIDERS, env: { FAL_KEY: "key-0" } });
    expect(config.accounts.fal?.map(({ secrets }) => secrets?.key?.reveal())).toEqual(["key-3"]);
    expect(config.warnings).toEqual([
      `${join(cwd, "svc-data/fal.key")} holds a key, and other users of this machine can read it: chmod 600 ${join(cwd, "svc-data/fal.key")}`,
    ]);
  });

  test("whose keys are kept count last", () => {
    const sealedLanes = () => ["fal", "fal/second", "fal/third", "acme/x"];
    expect(accountsOf("", "fal", { sealedLanes })).toEqual([
      ["fal", undefined],
      ["fal/second", undefined],
      ["fal/third", undefined],
    ]);
    const yaml = "providers: {fal: {accounts: [{name: second, key_env: SECOND_KEY}, {name: third}]}}";
    expect(accountsOf(yaml, "fal", { sealedLanes, env: { ...env, FAL_KEY: "key-0" } })).toEqual([
      ["fal", { key: "key-0" }],
      ["fal/second", { key: "key-2" }],
      ["fal/third", undefined],
    ]);
  });

  test("of an engine without a key are there once it has an address", () => {
    expect(accountsOf("", "house")).toEqual([]);
    expect(accountsOf("providers: {house: {base_url: 'http://127.0.0.1:9001'}}", "house")).toEqual([
      ["house", {}],
    ]);
    const yaml = "providers: {house: {accounts: [{name: a, base_url: 'http://127.0.0.1:9001'}]}}";
    expect(accountsOf(yaml, "house")).toEqual([["house/a", {}]]);
  });

  test("that cannot be used are all told at once, with their places", () => {
    const yaml = `
providers:
  fal:
    accounts:
      - { name: a, key: ${SECRET} }
      - { name: b, key_env: ${SECRET} }
      - { name: b, key_env: SECOND_KEY, region: eu }
      - { name: "No Name", key_env: MAIN_KEY, base_url: nonsense, concurency: 3 }
      - { name: c, key_env: SVC_API_KEY, proxy: "socks://user:${SECRET}@proxy.example" }
      - { name: d, key_env: NOT_SET }
      - { name: e, key_env: MAIN_KEY, key_file: x }
      - { name: f, key_file: none.key }
      - ${SECRET}
  acme:
    accounts:
      - { name: a, key_env: MAIN_KEY, region: mars }
      - { name: b, key_env: { access_key: MAIN_KEY, secrt_key: MAIN_KEY } }
  sandbox: { accounts: [] }
  elsewhere: { accounts: [] }
  acmee: { accounts: [] }
`;
    const at = "svc.yaml: providers.fal.accounts";
    const acmeAt = "svc.yaml: providers.acme.accounts";
    const sealed = "or keep it sealed: svc providers add fal --account a";
    expect(problemsOf(yaml, { env: { ...env, SVC_API_KEY: SECRET } }).sort()).toEqual(
      [
        `${at}[0].key: a key does not belong in this file; name a variable (key_env) or a file (key_file) that holds it, ${sealed}.`,
        `${at}[1].key_env: names a variable that is not set; set it to the key, or name the one that holds it.`,
        `${at}[2].name: is "b", and so is another one before it; give each account a name of its own.`,
        `${at}[2].region: must be left out: fal has no regions, got "eu".`,
        `${at}[3].name: must be up to 32 lower-case letters, digits, - and _, got "No Name".`,
        `${at}[3].base_url: must be an http or https URL without user, query or fragment, such as https://api.example.com/v1, got "nonsense".`,
        `${at}[3].concurency: is nothing that an account has. Did you mean concurrency?`,
        `${at}[4].proxy: must be an http or https URL without a path, such as http://user:password@proxy.example.com:3128.`,
        `${at}[4].key_env: must be another variable: those that begin with SVC_ are svc's own.`,
        `${at}[5].key_env: names NOT_SET, which is not set; set it to the key, or name the one that holds it.`,
        `${at}[6]: has key_env and key_file; leave out one of them.`,
        `${at}[7].key_file: names none.key, which cannot be read: there is no such file or folder.`,
        `${at}[8]: must be an account, such as {name: main, key_env: MAIN_KEY}.`,
        `${acmeAt}[0].region: must be one of eu, us, got "mars".`,
        `${acmeAt}[0].key_env: acme has 2 secrets: name a place for each, {access_key: …, secret_key: …}.`,
        `${acmeAt}[1].key_env: must name access_key and secret_key: these are the secrets of acme. Did you mean secret_key?`,
        "svc.yaml: providers.sandbox: is not a setting.",
        "svc.yaml: providers.elsewhere: is of a provider that is not here; remove it, or put the provider's file back.",
        "svc.yaml: providers.acmee: is not a setting. Did you mean providers.acme?",
      ].sort(),
    );
  });

  test("without their key end only the start of a server", () => {
    const yaml = "providers: {fal: {accounts: [{name: a, key_env: NOT_SET}, {name: b}]}}";
    expect(problemsOf(yaml)).toHaveLength(2);
    expect(problemsOf(yaml, { isServing: false })).toEqual([]);
  });

  test("of a provider that is not here any more end only the start of a server, and a misspelt one every command", () => {
    const gone = "providers: {elsewhere: {accounts: [{name: a}]}}";
    expect(problemsOf(gone)).toHaveLength(1);
    expect(problemsOf(gone, { isServing: false })).toEqual([]);
    expect(problemsOf("providers: {acmee: {concurrency: 2}}", { isServing: false })).toEqual([
      "svc.yaml: providers.acmee: is not a setting. Did you mean providers.acme?",
    ]);
    expect(problemsOf("providers: {sandbox: {concurrency: 2}}", { isServing: false })).toHaveLength(1);
  });

  test("at an address of this service are refused", () => {
    const yaml =
      "providers: {fal: {accounts: [{name: a, key_env: MAIN_KEY, base_url: 'http://127.0.0.1:8787'}]}}";
    expect(problemsOf(yaml, { env })).toEqual([
      'svc.yaml: providers.fal.accounts[0].base_url: leads back to this service itself, got "http://127.0.0.1:8787"; unset it for the server, or give the provider\'s own address.',
    ]);
  });

  test("are refused at the provider's address too, wherever their keys are, and in one line", () => {
    const yaml =
      "providers: {fal: {base_url: 'http://127.0.0.1:8787', accounts: [{name: a, key_env: MAIN_KEY}, {name: b, key_env: SECOND_KEY}]}}";
    const told =
      'svc.yaml: providers.fal.base_url: leads back to this service itself, got "http://127.0.0.1:8787"; unset it for the server, or give the provider\'s own address.';
    expect(problemsOf(yaml, { env })).toEqual([told]);
    const without = "providers: {fal: {base_url: 'http://127.0.0.1:8787'}}";
    expect(problemsOf(without, { sealedLanes: () => ["fal"] })).toEqual([told]);
    expect(problemsOf(without)).toEqual([]);
    const elsewhere = yaml.replaceAll("_KEY}", "_KEY, base_url: 'https://fal.example'}");
    expect(problemsOf(elsewhere, { env })).toEqual([]);
  });

  test("send their keys in the clear to the provider's address, which is told of each key", () => {
    const yaml = "providers: {fal: {base_url: 'http://10.1.2.3', accounts: [{name: a, key_env: MAIN_KEY}]}}";
    const sources = { env: { ...env, FAL_KEY: "key-0" }, sealedLanes: () => ["fal/kept"] };
    expect(load(yaml, sources).warnings.map((line) => line.replace(/ over http.*/, ""))).toEqual([
      ...["FAL_KEY goes to 10.1.2.3", "The key of fal/a goes to 10.1.2.3"],
      "The key of fal/kept goes to 10.1.2.3",
    ]);
    const keyless = "providers: {house: {accounts: [{name: a, base_url: 'http://10.1.2.3'}]}}";
    expect(load(keyless).warnings).toEqual([]);
  });

  test("over plain http across a network are told", () => {
    const yaml = "providers: {fal: {accounts: [{name: a, key_env: MAIN_KEY, base_url: 'http://10.1.2.3'}]}}";
    expect(load(yaml, { env }).warnings).toEqual([
      "The key of fal/a goes to 10.1.2.3 over http, where anybody on the way can read it; use https.",
    ]);
  });

  test("show no key when the configuration is printed", () => {
    const config = load(TWO, { env: { MAIN_KEY: SECRET, SECOND_KEY: SECRET } });
    for (const shown of [JSON.stringify(config), Bun.inspect(config)]) expect(shown).not.toContain(SECRET);
  });
});

describe("a provider of the operator's own", () => {
  const own: ProviderSettings = {
    ...acme,
    id: "mine",
    settings: () =>
      accountSettings({
        ...{ id: "mine", title: "Mine", base: "https://mine.example", regions: [], concurrency: 2 },
        variables: { key: "MINE_KEY" },
      }),
  };
  const sources = { ownProviders: () => ["mine"], env: { MINE_KEY: "key-9", MAIN_KEY: "key-1" } };

  test("has its settings and accounts once its table is known", () => {
    const yaml = "providers: {mine: {concurrency: 7, accounts: [{name: b, key_env: MAIN_KEY}]}}";
    const { values, accounts } = load(yaml, sources).providerConfig(own);
    expect(values).toMatchObject({ concurrency: 7, baseUrl: undefined });
    expect(accounts.map(({ lane }) => String(lane))).toEqual(["mine", "mine/b"]);
  });

  test("is not looked for where the settings file names none", () => {
    const ownProviders = () => {
      throw new Error("looked for");
    };
    expect(() => load("providers: {fal: {concurrency: 3}}", { ownProviders })).not.toThrow();
    expect(() => load("providers: {mine: {concurrency: 3}}", { ownProviders })).toThrow("looked for");
  });

  test("has its problems told then", () => {
    const config = load("providers: {mine: {concurency: 7, accounts: [{name: b}]}}", sources);
    expect(() => config.providerConfig(own)).toThrow(ConfigError);
    expect(() => config.providerConfig(own)).toThrow(
      /concurency: is not a setting.*\n.*accounts\[0\]: has no key/s,
    );
  });
});
