import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/config.ts";
import { createProviders, PROVIDERS } from "../../../src/providers/registry.ts";
import { fakeClock } from "../../helpers/engine.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The accounts that an environment and a settings file make. */
async function accounts(env: Readonly<Record<string, string>>, file = "{}") {
  const cwd = mkdtempSync(join(tmpdir(), "sdapi-"));
  folders.push(cwd);
  writeFileSync(join(cwd, "svc.yaml"), file);
  const config = loadConfig({ cwd, env, file: "svc.yaml", providers: PROVIDERS });
  const all = await createProviders({ config, clock: fakeClock() });
  return all
    .filter(({ id }) => id === "sdapi")
    .map(({ lane, concurrency, terms }) => ({ lane: String(lane), concurrency, base: terms?.() }));
}

test("an address switches it on, without a key", async () => {
  expect(await accounts({})).toEqual([]);
  expect(await accounts({ SDAPI_BASE_URL: "http://gpu:7860/" })).toEqual([
    { lane: "sdapi", concurrency: 2, base: { base: "http://gpu:7860" } },
  ]);
});

test("a key alone is for a server at the usual address", async () => {
  expect(await accounts({ SDAPI_API_KEY: "user:password-of-ours" })).toEqual([
    { lane: "sdapi", concurrency: 2, base: { base: "http://127.0.0.1:7860" } },
  ]);
});

test("several servers are accounts, which need no keys", async () => {
  const file = `providers:
  sdapi:
    exclusive: true
    restarts: safe
    accounts:
      - { name: big, base_url: "http://big:7860", concurrency: 3 }
      - { name: small, base_url: "http://small:7860", on_unknown: resubmit }`;
  expect(await accounts({}, file)).toEqual([
    { lane: "sdapi/big", concurrency: 3, base: { base: "http://big:7860" } },
    { lane: "sdapi/small", concurrency: 2, base: { base: "http://small:7860" } },
  ]);
});
