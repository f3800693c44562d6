import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { FAL_MODELS } from "../../src/providers/fal/request.ts";
import { createProviders, PROVIDER_IDS } from "../../src/providers/registry.ts";
import { GENERATORS } from "../../src/providers/sandbox/spec.ts";

const key = { reveal: () => "sk-test-0123456789abcdef" };
const config = {
  dataDir: "/nonexistent/svc",
  sandbox: { enabled: true, concurrency: 8, workers: 1 },
  providers: {
    openai: { key, baseUrl: "https://api.openai.com/v1", concurrency: 8, isIdempotent: false },
    fal: { key, baseUrl: "https://queue.fal.run", concurrency: 32 },
  },
};
const clock = { now: () => 0, after: () => () => undefined };

test("a provider that is switched off is not there", () => {
  const { openai, fal } = config.providers;
  const off = {
    ...config,
    sandbox: { ...config.sandbox, enabled: false },
    providers: { openai: { ...openai, key: undefined }, fal: { ...fal, key: undefined } },
  };
  expect(createProviders({ config: off, clock })).toEqual([]);
});

test("providers open nothing before they are used", async () => {
  const providers = createProviders({ config, clock });
  expect(providers.map((provider) => provider.id)).toEqual([...PROVIDER_IDS]);
  for (const provider of providers) await provider.stop?.();
  expect(existsSync(config.dataDir)).toBe(false);
});

test("every route of the catalogue leads to a provider there is, and to a model it knows", () => {
  const routes = createCatalog()
    .models()
    .flatMap((model) => model.routes);
  for (const { provider, upstreamModel } of routes) {
    expect(PROVIDER_IDS).toContain(provider);
    if (provider === "sandbox") expect(GENERATORS as readonly string[]).toContain(upstreamModel);
    if (provider === "fal") expect(FAL_MODELS).toContain(upstreamModel);
  }
});
