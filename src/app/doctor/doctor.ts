import type { Config, ConfigSources } from "../../config/config.ts";
import { ConfigError, type ConfigProblem } from "../../config/problem.ts";
import { createSystemClock } from "../../runtime/clock.ts";
import type { LiveLane } from "../../store/inspection.ts";
import { createSecret } from "../../toolkit/settings/secret.ts";
import type { SecretKeys } from "../data-folder.ts";
import { readConfig } from "../settings.ts";
import { backupChecks } from "./backups.ts";
import { bucketChecks, filesChecks } from "./bucket.ts";
import { contentChecks } from "./content.ts";
import { lookAtDatabase } from "./database.ts";
import {
  clockCheck,
  descriptorCheck,
  fontCheck,
  nativeCheck,
  settingsChecks,
  versionCheck,
  warningChecks,
} from "./environment.ts";
import { type Finding, looking } from "./finding.ts";
import { lookAtFolder } from "./folder.ts";
import { networkChecks } from "./network.ts";
import { guardCheck, providerChecks } from "./providers.ts";
import { replicaChecks } from "./replica.ts";
import { lookAtSharedDatabase } from "./shared-database.ts";
import { spaceWish } from "./space.ts";
import { waitingChecks } from "./waiting.ts";

export type { Finding } from "./finding.ts";

type Sources = Omit<ConfigSources, "providers" | "sealedLanes" | "ownProviders" | "isServing">;

/** What doctor has seen. */
export interface Examined {
  readonly findings: readonly Finding[];
  /** Absent if the settings cannot be used. */
  readonly config: Config | undefined;
  /** Absent if the settings do not say. */
  readonly dataDir: string | undefined;
}

/** Examines everything that a server with these settings needs, whether or not one runs. Changes nothing. */
export async function examine(sources: Sources): Promise<Examined> {
  const { config, problems, dataDir } = readAll(sources);
  const now = createSystemClock().now();
  const findings: Finding[] = [...versionCheck(), ...settingsChecks(problems, config?.configFile)];
  const add = async (id: string, check: Parameters<typeof looking>[1]) => {
    findings.push(...(await looking(id, check)));
  };
  if (config !== undefined) findings.push(...warningChecks(config.warnings));
  await add("descriptors", descriptorCheck.bind(undefined, undefined));
  await add("native", nativeCheck);
  await add("fonts", fontCheck);
  let server: ReturnType<typeof lookAtFolder>["server"] = { isHeld: false };
  let lastBeat: number | undefined;
  let liveLanes: readonly LiveLane[] = [];
  if (dataDir !== undefined)
    await add("data_dir", async () => {
      const folder = lookAtFolder(dataDir, config && (await spaceWish(config, now)));
      server = folder.server;
      if (!folder.isThere || config?.database !== undefined) return folder.findings;
      const keys = config ?? keysOf(dataDir, sources.env);
      const database = await lookAtDatabase({ config: keys, now, isServed: server.isHeld });
      ({ lastBeat, liveLanes = [] } = database);
      return [...folder.findings, ...database.findings];
    });
  if (config?.database !== undefined)
    await add("database", async () => {
      const shared = await lookAtSharedDatabase(config);
      lastBeat = shared.lastBeat;
      return shared.findings;
    });
  if (config !== undefined) await add("replica", () => replicaChecks(config));
  await add("clock", () => clockCheck(now, lastBeat));
  if (config === undefined) return { findings, config, dataDir };
  await add("own_models", () => contentChecks(config));
  await add("callback_guard", () => guardCheck(config));
  await add("public_url", () => networkChecks({ config, server, now }));
  await add("files_owner", () => filesChecks(config));
  await add("bucket", () => bucketChecks(config, now));
  await add("backups", () => backupChecks(config, now));
  await add("provider_keys", () => providerChecks(config));
  await add("tasks_waiting", () => waitingChecks(liveLanes, config));
  return { findings, config, dataDir };
}

/** Every problem with the settings, and the settings as far as they can be used without a server. */
function readAll(sources: Sources): {
  config?: Config;
  dataDir?: string | undefined;
  problems: readonly ConfigProblem[];
} {
  try {
    const config = readConfig({ ...sources, isServing: false });
    return { config, dataDir: config.dataDir, problems: problemsOfServer(sources) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { dataDir: error.dataDir, problems: error.problems };
  }
}

function problemsOfServer(sources: Sources): readonly ConfigProblem[] {
  try {
    readConfig({ ...sources, isServing: true });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** The key for the secrets of a folder whose settings cannot be used. */
function keysOf(dataDir: string, env: Sources["env"]): SecretKeys {
  const key = env?.SVC_SECRET_KEY;
  return { dataDir, secretKey: key === undefined || key === "" ? undefined : createSecret(key) };
}
