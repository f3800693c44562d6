import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/config/config.ts";
import { createProviders, PROVIDERS } from "../../../src/providers/registry.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { startWebUi } from "./engine.ts";
import { submission } from "./harness.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The adapters that an environment and a settings file make. */
async function adapters(env: Readonly<Record<string, string>>, file = "{}", clock = fakeClock()) {
  const cwd = mkdtempSync(join(tmpdir(), "sdapi-"));
  folders.push(cwd);
  writeFileSync(join(cwd, "svc.yaml"), file);
  const config = loadConfig({ cwd, env, file: "svc.yaml", providers: PROVIDERS });
  return (await createProviders({ config, clock })).filter(({ id }) => id === "sdapi");
}

/** The accounts that they are for. */
async function accounts(env: Readonly<Record<string, string>>, file?: string) {
  const all = await adapters(env, file);
  return all.map(({ lane, concurrency, terms }) => ({ lane: String(lane), concurrency, base: terms?.() }));
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
    accounts:
      - { name: big, base_url: "http://big:7860", concurrency: 3 }
      - { name: small, base_url: "http://small:7860" }`;
  expect(await accounts({}, file)).toEqual([
    { lane: "sdapi/big", concurrency: 3, base: { base: "http://big:7860" } },
    { lane: "sdapi/small", concurrency: 2, base: { base: "http://small:7860" } },
  ]);
});

test.each([
  ["{}", true],
  ["{ restarts: safe }", false],
  ["{ accounts: [{ name: a, base_url: URL, on_unknown: resubmit }] }", false],
])("what was made and lost with its answer: %s", async (settings, isUnknown) => {
  const ui = await startWebUi();
  const clock = fakeClock();
  const file = `providers: { sdapi: ${settings.replace("URL", `"${ui.origin}"`)} }`;
  const [provider] = await adapters({ SDAPI_BASE_URL: ui.origin }, file, clock).then((all) => all.slice(-1));
  const submitting = provider?.submit(submission(), new AbortController().signal);
  await ui.until(() => ui.queue.length > 0);
  clock.advance(1_000);
  const operation = await submitting;
  if (operation?.kind !== "operation") throw new Error("It was answered at once.");
  ui.cut();
  ui.end();
  const poll = () => provider?.poll?.(operation.operation, new AbortController().signal);
  let answer = await poll();
  while (answer?.kind === "pending") answer = await poll();
  expect(answer).toMatchObject(isUnknown ? { code: "OUTCOME_UNKNOWN" } : { isLost: true });
  await ui.stop();
});

test("only a server that nobody else uses is interrupted", async () => {
  for (const isExclusive of [false, true]) {
    const ui = await startWebUi();
    const clock = fakeClock();
    const file = `providers: { sdapi: { exclusive: ${isExclusive} } }`;
    const [provider] = await adapters({ SDAPI_BASE_URL: ui.origin }, file, clock);
    const submitting = provider?.submit(submission(), new AbortController().signal);
    await ui.until(() => ui.queue.length > 0);
    clock.advance(1_000);
    const operation = await submitting;
    if (operation?.kind !== "operation") throw new Error("It was answered at once.");
    await provider?.cancel?.(operation.operation, new AbortController().signal);
    expect(ui.interrupted).toHaveLength(isExclusive ? 1 : 0);
    await ui.stop();
  }
});
