import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { keepAccount } from "../../src/app/kept-accounts.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { png } from "../helpers/media.ts";
import { startUpstream } from "../helpers/scripted-upstream.ts";

const [LISTED, KEPT] = ["sk-listed-0123456789", "sk-kept-0123456789"];

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startImages() {
  const picture = Buffer.from(await png(8, 8)).toString("base64");
  const upstream = await startUpstream(() => ({
    json: { created: 1, data: [{ b64_json: picture }], size: "1024x1024" },
  }));
  closing.push(() => upstream.stop());
  return upstream;
}

test("each account's tasks go to its own address with its own key, and no key shows", async () => {
  const upstreams = [await startImages(), await startImages()];
  const cwd = mkdtempSync(join(tmpdir(), "svc-accounts-"));
  closing.push(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, "svc-data"));
  const accounts = [
    { name: "listed", key_env: "LISTED_KEY", base_url: `${upstreams[0]?.origin}/listed`, concurrency: 1 },
    { name: "kept", base_url: `${upstreams[1]?.origin}`, concurrency: 1 },
  ];
  writeFileSync(join(cwd, "svc-data/svc.yaml"), JSON.stringify({ providers: { openai: { accounts } } }));
  await keepAccount(readConfig({ cwd }), "openai/kept" as LaneId, { key: KEPT });

  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(`${message} ${Bun.inspect(fields, { depth: 9 })} ${JSON.stringify(fields)}`);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const flags = { port: "0", sandbox: false };
  const config = readConfig({ cwd, env: { LISTED_KEY: LISTED }, flags, isServing: true });
  const app = createApp(config, { log });
  closing.push(() => app.stop({ force: true }));
  const { urls, firstKey, providers } = await app.start();
  expect(providers.map(String)).toEqual(["openai/listed", "openai/kept"]);

  const call = async (path: string, body?: JsonObject) => {
    const response = await fetch(urls.api + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${firstKey}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    lines.push(text);
    return JSON.parse(text).data as JsonObject;
  };
  const body = { model: "gpt-image-2", prompt: "x", quality: "low", size: "1024x1024" };
  const tasks = await Promise.all([1, 2].map(() => call("/v1/images/generations", body)));
  for (const { task_id } of tasks)
    expect(await call(`/v1/images/status/${task_id}?wait=20`)).toMatchObject({ status: "completed" });

  const seen = upstreams.map(({ arrived }) =>
    arrived.map(({ path, headers }) => `${path} ${headers.get("authorization")}`),
  );
  // An address without a path keeps the usual one.
  expect(seen).toEqual([
    [`/listed/images/generations Bearer ${LISTED}`],
    [`/v1/images/generations Bearer ${KEPT}`],
  ]);
  for (const line of lines) for (const key of [LISTED, KEPT]) expect(line).not.toContain(key);
  expect(config.notes.filter((each) => each.startsWith("openai"))).toEqual([
    `openai/listed: account in ${join(cwd, "svc-data/svc.yaml")}: providers.openai.accounts[0]`,
    "openai/kept: key kept sealed in the data folder",
  ]);
});
