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
  const cwd = mkdtempSync(join(tmpdir(), "comfyui-"));
  folders.push(cwd);
  writeFileSync(join(cwd, "svc.yaml"), file);
  const config = loadConfig({ cwd, env, file: "svc.yaml", providers: PROVIDERS });
  const all = await createProviders({ config, clock: fakeClock() });
  return all
    .filter(({ id }) => id === "comfyui")
    .map(({ lane, concurrency, repeatIsSafe, recover, terms }) => ({
      ...{ lane: String(lane), concurrency, repeatIsSafe, base: terms?.() },
      isCloud: recover === undefined,
    }));
}

const OWN = { concurrency: 2, repeatIsSafe: true, isCloud: false };

test("an address switches it on, without a key", async () => {
  expect(await accounts({})).toEqual([]);
  expect(await accounts({ COMFYUI_BASE_URL: "http://gpu:8188/" })).toEqual([
    { ...OWN, lane: "comfyui", base: { base: "http://gpu:8188" } },
  ]);
});

test("a key alone means Comfy Cloud, where nothing is made a second time", async () => {
  expect(await accounts({ COMFYUI_API_KEY: "comfyui-key-of-ours" })).toEqual([
    {
      lane: "comfyui",
      concurrency: 2,
      repeatIsSafe: false,
      isCloud: true,
      base: { base: "https://cloud.comfy.org" },
    },
  ]);
});

test("a key with an address is for what stands before the server", async () => {
  const env = {
    COMFYUI_API_KEY: "comfyui-key-of-ours",
    SVC_PROVIDERS_COMFYUI_BASE_URL: "https://gpu.example/comfy",
  };
  expect(await accounts(env)).toEqual([
    { ...OWN, lane: "comfyui", base: { base: "https://gpu.example/comfy" } },
  ]);
});

test("several servers are accounts, which need no keys", async () => {
  const file = `providers:
  comfyui:
    restarts: charged
    accounts:
      - { name: big, base_url: "http://big:8188", concurrency: 3 }
      - { name: small, base_url: "http://small:8188" }`;
  expect(await accounts({}, file)).toEqual([
    { ...OWN, lane: "comfyui/big", repeatIsSafe: false, concurrency: 3, base: { base: "http://big:8188" } },
    { ...OWN, lane: "comfyui/small", repeatIsSafe: false, base: { base: "http://small:8188" } },
  ]);
});
