import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { sealOf } from "../../src/app/data-folder.ts";
import { openLocal } from "../../src/app/local.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { AttemptId } from "../../src/domain/ids.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { StoredFile } from "../../src/domain/media/asset.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
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
  stop(): Promise<void>;
}

/** @param env switches providers on */
export async function startPublished(env: Readonly<Record<string, string>> = {}): Promise<PublishedService> {
  const folder = mkdtempSync(join(tmpdir(), "svc-openapi-"));
  const readSettings = () => readConfig({ cwd: folder, env, flags: { port: "0" } });
  const config = readSettings();
  const app = createApp(config, { log: quiet, readSettings });
  const { urls, firstKey = "" } = await app.start();
  const local = await openLocal(config);
  const clock = createSystemClock();
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
    async stop() {
      await app.stop({ force: true });
      rmSync(folder, { recursive: true });
    },
  };
}
