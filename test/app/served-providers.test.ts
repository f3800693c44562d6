import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { openLocal } from "../../src/app/local.ts";
import { readConfig } from "../../src/app/settings.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";

const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release();
});

const FORM = `provider: house
form: 1
base: https://house.example/api
auth: { header: x-key, value: "\${key}", key_env: HOUSE_KEY }
submit:
  post: /pictures
  json: { prompt: "\${prompt}" }
  outputs: { base64: "\${body.picture}" }
`;

/** A folder with files below its data folder. */
function folderWith(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "svc-served-"));
  releases.push(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    const path = join(folder, "svc-data", name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { folder, write };
}

/** A log whose lines can be waited for. */
function watchedLog() {
  const lines: string[] = [];
  let listeners: (() => void)[] = [];
  const note = (_fields: unknown, line: string) => {
    lines.push(line);
    for (const listener of listeners) listener();
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  /** Resolves once the line was said so often. */
  const says = (part: string, times = 1) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (lines.filter((line) => line.includes(part)).length < times) return;
        listeners = listeners.filter((each) => each !== look);
        resolve();
      };
      listeners.push(look);
      look();
    });
  return { log, lines, says };
}

/** Starts a server on a folder. */
async function serve(
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
) {
  const { folder, write } = folderWith(files);
  const { log, lines, says } = watchedLog();
  const config = readConfig({ cwd: folder, env, flags: { port: "0" }, isServing: true });
  const app = createApp(config, { log });
  const { urls } = await app.start();
  releases.push(() => app.stop({ force: true }));
  const local = await openLocal(config);
  const { token } = await local.manage.createToken({ name: "watcher" });
  await local.stop();
  const ask = async (path: string, body?: JsonObject): Promise<JsonObject> => {
    const response = await fetch(`${urls.api}/admin/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (isJsonObject(answer) && isJsonObject(answer.data)) return answer.data;
    throw new Error(`${path} answers ${JSON.stringify(answer)}`);
  };
  return { folder, write, lines, says, ask };
}

test("the overview has the lanes of a provider that was described while the server ran", async () => {
  const { write, says, ask } = await serve({}, { HOUSE_KEY: "house-key-1" });
  write("providers/house.yaml", FORM);
  await says("own providers are in force");
  expect((await ask("/overview")).lanes).toEqual([
    expect.objectContaining({ lane: "house", limit: expect.any(Number) }),
    expect.objectContaining({ lane: "sandbox" }),
  ]);
});
