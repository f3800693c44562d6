import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { AddressError } from "../toolkit/postgres-address.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import { readTree, type ValuesOf } from "../toolkit/settings/setting.ts";
import type { ShownSetting } from "../toolkit/settings/shown.ts";
import { type AlertSettings, readAlerts } from "./alerts/alerts.ts";
import { type AssetConfig, readAssets } from "./assets.ts";
import { type BackupConfig, checkBackups, readBackups } from "./backups.ts";
import { chooseValue, type Given, readCredential } from "./choose.ts";
import { completePostgresUrl } from "./database.ts";
import { type ModerationSettings, readModeration } from "./moderation/moderation.ts";
import type { NearVariable } from "./near-variables.ts";
import { ConfigError, type ConfigProblem, show } from "./problem.ts";
import {
  type ProviderConfig,
  type ProviderSources,
  type ReadProviders,
  readProvider,
  readProviders,
} from "./providers.ts";
import { runtimeVariableProblems } from "./runtime-variables.ts";
import { createSettings, type ProviderSettings, type Settings, variableOf } from "./settings.ts";
import { claimProviders, PRICING, readNamedFile, readOwnFile, type SettingsFile } from "./settings-file.ts";
import { shownSettings } from "./shown.ts";
import { warningsOf } from "./warnings.ts";

/** The values of the table in settings.ts and more: checked, complete and frozen. */
export interface Config extends Omit<ValuesOf<Settings>, "assets" | "backup"> {
  /** Absolute. */
  readonly dataDir: string;
  readonly assets: AssetConfig;
  readonly backup: BackupConfig;
  /** By provider: the accounts that are switched on, the default one first. */
  readonly accounts: ReadProviders["accounts"];
  /** Reads what concerns a provider that became known later. @throws ConfigError with every problem */
  readonly providerConfig: (provider: ProviderSettings) => ProviderConfig;
  /** The settings file that was read. */
  readonly configFile?: string | undefined;
  /** Price rules by model id, as the settings file has them. The catalogue checks them. */
  readonly pricing: JsonObject;
  /** Checks of what callers ask for; absent where there are none. */
  readonly moderation?: ModerationSettings | undefined;
  /** Who is told of what goes wrong. */
  readonly alerts: readonly AlertSettings[];
  /** Settings that the service runs with but an operator should check. */
  readonly warnings: readonly string[];
  /** Every setting that was read, with where its value was given. Secrets are masked. */
  readonly shown: () => readonly ShownSetting[];
  /** Adds line and column to a problem with what is in the settings file. */
  readonly placed: (problem: ConfigProblem) => ConfigProblem;
  /** What an operator should know about where settings come from. */
  readonly notes: readonly string[];
  /** Variables that look like the key of a provider which has none. The notes tell of them too. */
  readonly misnamed: readonly NearVariable[];
}

export interface ConfigSources extends Partial<Pick<Given, "flags" | "env">> {
  /** A settings file to use instead of svc.yaml in the data folder. */
  readonly file?: string | undefined;
  readonly cwd: string;
  /** The providers whose settings may be set. */
  readonly providers: readonly ProviderSettings[];
  /** Ids of providers that a data folder defines itself. What concerns them is read by `providerConfig`. */
  readonly ownProviders?: ((dataDir: string) => readonly string[]) | undefined;
  /** The lanes whose keys lie sealed in a data folder. */
  readonly sealedLanes?: ((dataDir: string) => readonly string[]) | undefined;
  /** Whether a server starts with it: then every account needs its key, and no provider's address may be the server's own. */
  readonly isServing?: boolean;
  /** Cores of the machine; counted unless given. */
  readonly cores?: number;
}

/** Chooses flags over variables over the settings file over defaults. @throws ConfigError with every problem */
export function loadConfig(sources: ConfigSources): Config {
  const { flags = {}, env = {}, cwd } = sources;
  const problems: ConfigProblem[] = [];
  const machine = { cores: sources.cores ?? availableParallelism() };
  const settings = createSettings(machine, sources.providers);
  const { dataDir: folder, providers: _, ...others } = settings;

  const explicit = sources.file ?? (env.SVC_CONFIG || undefined);
  const named =
    explicit === undefined ? undefined : readNamedFile(resolve(cwd, explicit), settings, problems);
  const chosen: Given["chosen"] = new Map();
  const { value, source } = chooseValue(folder, { flags, env, file: named, chosen }, problems);
  const dataDir = resolve(source === "file" && named ? dirname(named.path) : cwd, value);
  const file = explicit === undefined ? readOwnFile(dataDir, settings, problems) : named;

  const given = { flags, env, file, chosen };
  const read = readTree(others, (each) =>
    each.kind === "credential"
      ? readCredential(each, given, problems)
      : chooseValue(each, given, problems).value,
  );
  const complete = (key: "database" | "databaseReplica") =>
    completeDatabase(settings[key], { url: read[key], driver: read.databaseDriver }, env, problems);
  const values = { ...read, database: complete("database"), databaseReplica: complete("databaseReplica") };
  checkPorts(settings, values, problems);
  checkShared(settings, values, problems);
  if (sources.isServing === true) checkBackupOf(settings, values, problems);
  checkBackups(values, problems);
  if (file !== undefined && file.others.size > 0)
    claimProviders(
      file,
      { own: sources.ownProviders?.(dataDir) ?? [], settings, isServing: sources.isServing === true },
      problems,
    );
  const ofProviders = {
    ...{ given, machine, sealed: new Set(sources.sealedLanes?.(dataDir)) },
    // A replay needs no keys and sends nothing.
    listening: sources.isServing === true && values.replay === undefined ? values : undefined,
  };
  const providers = readProviders(sources.providers, ofProviders, problems);
  problems.push(...runtimeVariableProblems(env, values.allowEnv, variableOf(settings.allowEnv)));
  const place = { dataDir, env, isServing: sources.isServing === true };
  const assets = readAssets(values.assets, place, problems);
  const backup = readBackups(values, place, problems);
  const pricing = readPricing(file, problems);
  const moderation = readModeration(file, env, problems);
  const alerts = readAlerts(file, env, problems);
  const placed = (problem: ConfigProblem) => file?.placed(problem) ?? problem;
  if (problems.length > 0) throw new ConfigError(problems.map(placed), dataDir);
  const warnings = [...warningsOf(env, settings, values), ...providers.warnings];
  const providerConfig = (provider: ProviderSettings) => readLateProvider(provider, ofProviders);
  return freeze({
    ...{ ...values, ...providers, providerConfig },
    ...{ dataDir, assets, backup, configFile: file?.path, pricing, moderation, alerts, warnings, placed },
    shown: () => shownSettings(given),
  });
}

/** The address of a database with what else says where it is. Its values are not quoted. */
function completeDatabase(
  { key }: Settings["database"],
  { url, driver }: { url: Secret | undefined; driver: ValuesOf<Settings>["databaseDriver"] },
  env: Given["env"],
  problems: ConfigProblem[],
): Secret | undefined {
  if (url === undefined) return undefined;
  try {
    return createSecret(completePostgresUrl(url.reveal(), env, driver));
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    problems.push({ where: key, message: error.message });
    return undefined;
  }
}

function readLateProvider(provider: ProviderSettings, sources: ProviderSources): ProviderConfig {
  const problems: ConfigProblem[] = [];
  const read = readProvider(provider, sources, problems);
  const { file } = sources.given;
  if (problems.length > 0) throw new ConfigError(problems.map((each) => file?.placed(each) ?? each));
  return freeze(read);
}

function checkPorts(
  settings: Pick<Settings, "port" | "longPort">,
  { port, longPort }: Pick<Config, "port" | "longPort">,
  problems: ConfigProblem[],
): void {
  const { key } = settings.port;
  const longKey = settings.longPort.key;
  if (longPort !== undefined && longPort !== 0 && longPort === port) {
    problems.push({ where: longKey, message: `must be another port than ${key}, which is ${port} too` });
  }
  if (port === undefined && longPort === undefined) {
    problems.push({
      where: `${key}, ${longKey}`,
      message: "are both off, which leaves no address to listen on",
    });
  }
}

/** A PostgreSQL server has its own tools, which copy it at one moment. */
function checkBackupOf(
  settings: Pick<Settings, "backup" | "database">,
  {
    backup,
    database,
  }: Pick<Config, "database"> & { readonly backup: { readonly everyMs?: number | undefined } },
  problems: ConfigProblem[],
): void {
  if (database === undefined || backup.everyMs === undefined) return;
  const message =
    "backs up a data folder, and a PostgreSQL database is named: use pg_dump, or base backups with archived logs";
  problems.push({ where: settings.backup.everyMs.key, message });
}

/** A process that has the database to itself does everything, and there is no copy. */
function checkShared(
  settings: Pick<Settings, "role" | "database" | "databaseReplica">,
  { role, database, databaseReplica }: Pick<Config, "role" | "database" | "databaseReplica">,
  problems: ConfigProblem[],
): void {
  if (database !== undefined) return;
  const set = `set ${settings.database.key} too`;
  if (role !== "all")
    problems.push({
      where: settings.role.key,
      message: `${role} needs other nodes, which share a PostgreSQL database: ${set}`,
    });
  if (databaseReplica !== undefined)
    problems.push({
      where: settings.databaseReplica.key,
      message: `is of a PostgreSQL database that nodes share: ${set}`,
    });
}

function readPricing(file: SettingsFile | undefined, problems: ConfigProblem[]): JsonObject {
  const raw = file?.values.get(PRICING) ?? {};
  if (isJsonObject(raw)) return raw;
  problems.push({
    where: `${file?.path}: ${PRICING}`,
    message: `must hold price rules by model, got ${show(raw)}`,
  });
  return {};
}

/** Freezes a value and everything in it. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
