import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { sealOf } from "../../src/app/data-folder.ts";
import { openLocal } from "../../src/app/local.ts";
import { OWN_MODELS } from "../../src/app/own-models.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { AttemptId } from "../../src/domain/ids.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import type { StoredFile } from "../../src/domain/media/asset.ts";
import type { Log, SteadyClock } from "../../src/domain/ports/runtime.ts";
import { isTerminal, type TaskStatus } from "../../src/domain/task/task.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { createHookTokens } from "../../src/service/hooks.ts";
import { createInputAddresses } from "../../src/service/input-addresses.ts";
import { readDocument } from "../helpers/openapi.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** The whole service in this process, and what it publishes of itself. */
export interface PublishedService {
  readonly url: string;
  readonly key: string;
  readonly token: string;
  readonly document: JsonObject;
  readonly dataDir: string;
  /** The path at which a provider would call about an attempt. */
  hookPath(attempt: AttemptId): string;
  /** The path under which a provider would fetch a stored file. */
  inputPath(file: Pick<StoredFile, "sha256" | "sizeBytes" | "type">): string;
  /** The status of a task once it has ended, however long that takes. @param key of its account; the first key unless given */
  untilEnded(id: string, key?: string): Promise<JsonObject>;
  stop(): Promise<void>;
}

/**
 * @param env switches providers on
 * @param models texts of its own models, by their ids
 */
export async function startPublished(
  env: Readonly<Record<string, string>> = {},
  clock: SteadyClock = createSystemClock(),
  models: Readonly<Record<string, string>> = {},
): Promise<PublishedService> {
  const folder = mkdtempSync(join(tmpdir(), "svc-openapi-"));
  const readSettings = () => readConfig({ cwd: folder, env, flags: { port: "0" } });
  const config = readSettings();
  for (const [id, text] of Object.entries(models))
    await Bun.write(join(config.dataDir, OWN_MODELS, `${id}.yaml`), text);
  const app = createApp(config, { log: quiet, readSettings, clock });
  const { urls, firstKey = "" } = await app.start();
  const local = await openLocal(config);
  const { pathOf } = createInputAddresses({
    assets: { open: async () => undefined },
    ...{ clock, seal: sealOf(config) },
  });
  const { token } = await local.manage.createToken({ name: "tests" });
  await local.stop();
  return {
    url: urls.api,
    key: firstKey,
    token,
    document: await readDocument(urls.api),
    dataDir: config.dataDir,
    hookPath: createHookTokens({ seal: sealOf(config) }).pathOf,
    inputPath: (file) => pathOf(file, clock.now()),
    untilEnded: (id, key = firstKey) => untilEnded(urls.api, id, key),
    async stop() {
      await app.stop({ force: true });
      rmSync(folder, { recursive: true });
    },
  };
}

/** Asks again for as long as the task lives: how soon it ends is up to the machine, and the limit is the test's own. */
async function untilEnded(url: string, id: string, key: string): Promise<JsonObject> {
  for (let kind = "images"; ; ) {
    const response = await fetch(`${url}/v1/${kind}/status/${id}?wait=30`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const answer: unknown = await response.json();
    const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : {};
    if (isTerminal(data.status as TaskStatus)) return data;
    if (response.status === 404 && kind === "images") kind = "videos";
    else if (response.status !== 200) throw new Error(`There is no task ${id}: ${response.status}.`);
  }
}
