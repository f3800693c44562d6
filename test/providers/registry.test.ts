import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { loadConfig } from "../../src/config/config.ts";
import { createSettings, variableOf } from "../../src/config/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { createProviders, PROVIDERS, providerNeeds } from "../../src/providers/registry.ts";
import { GENERATORS } from "../../src/providers/sandbox/spec.ts";
import { createSecret } from "../../src/toolkit/settings/secret.ts";
import { listSettings } from "../../src/toolkit/settings/setting.ts";
import { startUpstream } from "../helpers/scripted-upstream.ts";

const KEY = "sk-test-0123456789abcdef";
const clock = { now: () => 0, elapsed: () => 0, after: () => () => undefined };

function create(env: Record<string, string>) {
  const config = loadConfig({ cwd: "/nonexistent/svc", env, providers: PROVIDERS });
  return createProviders({ config, clock });
}

describe("a provider", () => {
  test("that is switched off is not there", async () => {
    expect(await create({ SVC_SANDBOX_ENABLED: "false" })).toEqual([]);
  });

  test("is there once it has what it needs", async () => {
    const idsWith = async (env: Record<string, string>) => (await create(env)).map(({ id }) => String(id));
    expect(await idsWith({})).toEqual(["sandbox"]);
    expect(await idsWith({ OPENAI_API_KEY: KEY })).toEqual(["sandbox", "openai"]);
    expect(await idsWith({ FAL_KEY: KEY, SVC_SANDBOX_ENABLED: "off" })).toEqual(["fal"]);
  });

  test("is made as its settings say", async () => {
    const env = {
      OPENAI_API_KEY: KEY,
      SVC_PROVIDERS_OPENAI_IDEMPOTENT: "true",
      SVC_SANDBOX_CONCURRENCY: "7",
    };
    const [sandbox, openAi] = await create(env);
    expect([sandbox?.concurrency, openAi?.submitIsIdempotent]).toEqual([7, true]);
  });

  test("has an adapter for each of its accounts, and leaves out one whose key cannot be opened", async () => {
    const at = {
      cwd: "/nonexistent/svc",
      providers: PROVIDERS,
      env: { SVC_SANDBOX_ENABLED: "off", FAL_KEY: KEY },
    };
    const config = loadConfig({ ...at, sealedLanes: () => ["fal/kept", "fal/locked"] });
    const second = {
      ...config.accounts.fal![0]!,
      name: "second",
      lane: "fal/second" as LaneId,
      concurrency: 3,
      onUnknown: "resubmit" as const,
    };
    const accounts = { fal: [...config.accounts.fal!, { ...second, baseUrl: "http://127.0.0.1:1" }] };
    const unseal = (lane: LaneId) => (lane.endsWith("kept") ? second.secrets : undefined);
    const adapters = await createProviders({ config: { ...config, accounts }, clock, unseal });
    expect(adapters.map(({ lane, concurrency, terms }) => [String(lane), concurrency, terms?.()])).toEqual([
      ["fal", 32, { base: "https://queue.fal.run" }],
      ["fal/kept", 32, { base: "https://queue.fal.run" }],
      ["fal/second", 3, { base: "http://127.0.0.1:1" }],
    ]);
    expect(adapters.map(({ onUnknown }) => onUnknown)).toEqual([undefined, undefined, "resubmit"]);
  });

  test("sends what it asks through the proxy of its account, or else through everybody's", async () => {
    const [proxy, own] = await Promise.all(
      [1, 2].map(() => startUpstream(() => ({ status: 503, json: {} }))),
    );
    if (proxy === undefined || own === undefined) throw new Error("No proxies.");
    const env = {
      ...{ SVC_SANDBOX_ENABLED: "off", OPENAI_API_KEY: KEY, FAL_KEY: KEY, SVC_PROXY: proxy.origin },
      SVC_PROVIDERS_OPENAI_BASE_URL: "http://openai.invalid",
      SVC_PROVIDERS_FAL_BASE_URL: "http://fal.invalid",
    };
    const config = loadConfig({ cwd: "/nonexistent/svc", env, providers: PROVIDERS });
    const ofFal = { ...config.accounts.fal![0]!, proxy: createSecret(own.origin) };
    const accounts = { ...config.accounts, fal: [ofFal] };
    for (const adapter of await createProviders({ config: { ...config, accounts }, clock })) {
      const request = {
        kind: "image",
        mode: "text-to-image",
        prompt: "A fox",
        n: 1,
        parameters: {},
        inputs: [],
      };
      const submission = { attempt: "att_1", taskId: "task_1", upstreamModel: "m", request, inputs: [] };
      // Whatever the adapter makes of such a refusal.
      await adapter.submit(submission as never, new AbortController().signal).catch(() => undefined);
    }
    for (const each of [proxy, own]) each.stop();
    const hosts = [proxy, own].map(({ arrived }) => arrived.map(({ headers }) => headers.get("host")));
    expect(hosts).toEqual([["openai.invalid"], ["fal.invalid"]]);
  });

  test("opens nothing before it is used", async () => {
    const needed = PROVIDERS.flatMap((provider) => provider.needs());
    const keys = needed.filter((name) => /^[A-Z]/.test(name)).map((name) => [name, KEY]);
    // What needs no key is switched on by its address.
    const addresses = needed
      .filter((name) => name.endsWith(".base_url"))
      .map((name) => [`SVC_${name.toUpperCase().replaceAll(".", "_")}`, "http://127.0.0.1:1"]);
    const providers = await create(Object.fromEntries([...keys, ...addresses]));
    expect(providers.map(({ id }) => id)).toEqual(PROVIDERS.map(({ id }) => id));
    for (const provider of providers) await provider.stop?.();
    expect(existsSync("/nonexistent/svc")).toBe(false);
  });

  test("says what switches it on, by the names an operator sets", () => {
    expect(providerNeeds("sandbox")).toEqual(["sandbox.enabled"]);
    expect(providerNeeds("openai")).toEqual(["OPENAI_API_KEY"]);
    expect(providerNeeds("fal")).toEqual(["FAL_KEY"]);
    expect(providerNeeds("elsewhere")).toBeUndefined();
  });
});

test("no two settings share a flag, a variable or a place in the settings file", () => {
  const settings = listSettings(createSettings({ cores: 4 }, PROVIDERS));
  const names = [
    settings.map(({ option }) => option),
    settings.map(variableOf),
    settings.map(({ key }) => key),
  ];
  for (const each of names) expect(new Set(each).size).toBe(settings.length);
});

test("every route of the catalogue leads to a provider there is, and to a model it knows", () => {
  const routes = createCatalog()
    .models()
    .flatMap((model) => model.routes);
  for (const { provider, upstreamModel } of routes) {
    expect(PROVIDERS.map(({ id }) => id)).toContain(provider);
    if (provider === "sandbox") expect(GENERATORS as readonly string[]).toContain(upstreamModel);
  }
});

test("every provider sends through the network that it is given: a replay reaches nobody", () => {
  const folder = join(import.meta.dir, "../../src/providers");
  const sources = [...new Bun.Glob("*/**/*.ts").scanSync(folder)].map(
    (name) => [name, readFileSync(join(folder, name), "utf8")] as const,
  );
  const sending = sources.filter(
    ([name, text]) => !name.startsWith("kit/") && text.includes("createUpstream("),
  );
  const deaf = sending.flatMap(([name, text]) => {
    const definition = sources.find(([each]) => each === `${name.split("/")[0]}/definition.ts`);
    return [[name, text] as const, definition].filter((each) => each && !/\bnetwork\b/.test(each[1]));
  });
  expect(sending.length).toBeGreaterThan(5);
  expect(deaf.map((each) => each?.[0])).toEqual([]);
});
