import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { openLocal } from "../../src/app/local.ts";
import { keptKeyOf, readConfig } from "../../src/app/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { keepKey } from "../../src/runtime/kept-keys.ts";
import { createSeal } from "../../src/runtime/seal.ts";
import { quickLooks } from "../helpers/quick-looks.ts";

setDefaultTimeout(30_000);

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
  prepare: (dataDir: string) => void = () => {},
) {
  const { folder, write } = folderWith(files);
  prepare(join(folder, "svc-data"));
  const { log, lines, says } = watchedLog();
  const config = readConfig({ cwd: folder, env, flags: { port: "0" }, isServing: true });
  const app = createApp(config, { log, clock: quickLooks() });
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

/** Of a list of providers, one. */
function providerIn(list: JsonObject, id: string): JsonObject {
  const found = (list.providers as JsonObject[]).find((each) => each.id === id);
  if (found === undefined) throw new Error(`No ${id}.`);
  return found;
}

test("an account whose kept key no key opens is off, and its provider says why", async () => {
  const { ask } = await serve({}, {}, (dataDir) => {
    const seal = createSeal({ key: "an earlier passphrase", file: join(dataDir, "secret.key") });
    keepKey(keptKeyOf(dataDir, "openai" as LaneId), seal, { key: "key-0123456789" });
  });
  const list = await ask("/providers");
  expect(providerIn(list, "openai")).toMatchObject({
    ...{ available: false, needs: ["OPENAI_API_KEY"], accounts: [] },
  });
  const told = expect.stringContaining("the kept key of openai is sealed with another key");
  expect(list.problems).toEqual([told]);
  expect((await ask("/providers/openai")).problems).toEqual([told]);
  expect((await ask("/providers/fal")).problems).toEqual([]);
});

test("accounts are shown and tested as they are in use, also when the files of their keys are gone", async () => {
  const { folder, ask } = await serve({
    "main.key": "key-0123456789",
    "svc.yaml":
      "providers: {fal: {base_url: 'http://127.0.0.1:1', accounts: [{name: main, key_file: main.key}]}}",
  });
  rmSync(join(folder, "svc-data/main.key"));
  expect(providerIn(await ask("/providers"), "fal")).toMatchObject({
    ...{ available: true, needs: [], accounts: [{ name: "main", lane: "fal/main", key_from: "settings" }] },
  });
  expect((await ask("/providers/fal/test", {})).accounts).toMatchObject([{ lane: "fal/main" }]);
});

test("settings that an own provider cannot be used with are told once, and by its server", async () => {
  const { write, lines, says, ask } = await serve(
    {
      "providers/house.yaml": FORM,
      "svc.yaml": "providers: {house: {concurrency: none}}",
    },
    { HOUSE_KEY: "house-key-1", INN_KEY: "inn-key-1" },
  );
  const wrong = "providers.house.concurrency: must be ";
  await says(wrong);
  write("providers/inn.yaml", FORM.replace("provider: house", "provider: inn").replace("HOUSE_", "INN_"));
  await says("own providers are in force");
  const told = lines.filter((line) => line.includes(wrong));
  expect(told).toEqual([expect.stringContaining("The provider house stays off.")]);
  const list = await ask("/providers");
  expect(list.problems).toEqual(told);
  expect(providerIn(list, "inn")).toMatchObject({ available: true });
  expect(lines).toContain("inn: key from INN_KEY");
});

test("what an operator should check of an own provider is told once", async () => {
  const { write, lines, says, ask } = await serve(
    {
      "providers/house.yaml": FORM,
      "svc.yaml": "providers: {house: {base_url: 'http://10.1.2.3'}}",
    },
    { HOUSE_KEY: "house-key-1" },
  );
  const warning = "HOUSE_KEY goes to 10.1.2.3 over http, where anybody on the way can read it; use https.";
  await says(warning);
  write("providers/inn.yaml", FORM.replace("provider: house", "provider: inn"));
  await says("own providers are in force", 2);
  expect(lines.filter((line) => line === warning)).toHaveLength(1);
  expect((await ask("/providers/house")).problems).toEqual([warning]);
});
