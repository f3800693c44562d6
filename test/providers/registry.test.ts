import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createProviders, PROVIDER_IDS } from "../../src/providers/registry.ts";
import { GENERATORS } from "../../src/providers/sandbox/spec.ts";

const config = { dataDir: "/nonexistent/svc", sandbox: { enabled: true, concurrency: 8, workers: 1 } };
const clock = { now: () => 0, after: () => () => undefined };

test("a provider that is switched off is not there", () => {
  const off = { ...config, sandbox: { ...config.sandbox, enabled: false } };
  expect(createProviders({ config: off, clock })).toEqual([]);
});

test("providers open nothing before they are used", async () => {
  const providers = createProviders({ config, clock });
  expect(providers.map((provider) => provider.id)).toEqual([...PROVIDER_IDS]);
  for (const provider of providers) await provider.stop?.();
  expect(existsSync(config.dataDir)).toBe(false);
});

test("every route of the catalogue leads to a provider there is, and to a generator it has", () => {
  const routes = createCatalog()
    .models()
    .flatMap((model) => model.routes);
  for (const { provider, upstreamModel } of routes) {
    expect(PROVIDER_IDS).toContain(provider);
    if (provider === "sandbox") expect(GENERATORS as readonly string[]).toContain(upstreamModel);
  }
});
