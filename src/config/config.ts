import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { readTree, type Setting, type ValuesOf } from "../toolkit/settings/setting.ts";
import { chooseValue, type Given, readCredential } from "./choose.ts";
import { type ConfigProblem, describeProblem, show } from "./problem.ts";
import { runtimeVariableProblems } from "./runtime-variables.ts";
import { createSettings, type ProviderSettings, type Settings, variableOf } from "./settings.ts";
import { PRICING, readNamedFile, readOwnFile, type SettingsFile } from "./settings-file.ts";
import { describeCustomaryVariables, refuseOwnAddresses, withoutOwnKeys } from "./upstreams.ts";
import { warningsOf } from "./warnings.ts";

/** The values of the table in settings.ts and more: checked, complete and frozen. */
export interface Config extends ValuesOf<Settings> {
  /** Absolute. */
  readonly dataDir: string;
  /** The settings file that was read. */
  readonly configFile?: string | undefined;
  /** Price rules by model id, as the settings file has them. The catalogue checks them. */
  readonly pricing: JsonObject;
  /** Settings that the service runs with but an operator should check. */
  readonly warnings: readonly string[];
  /** What an operator should know about where settings come from. */
  readonly notes: readonly string[];
}

/** Lists every problem of the configuration, not only the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(describeProblem).join("\n"));
  }
}

export interface ConfigSources extends Partial<Pick<Given, "flags" | "env">> {
  /** A settings file instead of svc.yaml in the data folder. */
  readonly file?: string | undefined;
  readonly cwd: string;
  /** The providers whose settings may be set. */
  readonly providers: readonly ProviderSettings[];
  /** Whether a server starts with it: then no provider's address may be the server's own. */
  readonly isServing?: boolean;
  /** Cores of the machine; counted unless given. */
  readonly cores?: number;
}

/** Chooses flags over variables over the settings file over defaults. @throws ConfigError with every problem */
export function loadConfig(sources: ConfigSources): Config {
  const { flags = {}, env = {}, cwd } = sources;
  const problems: ConfigProblem[] = [];
  const settings = createSettings({ cores: sources.cores ?? availableParallelism() }, sources.providers);
  const { dataDir: folder, ...others } = settings;

  const explicit = sources.file ?? (env.SVC_CONFIG || undefined);
  const named =
    explicit === undefined ? undefined : readNamedFile(resolve(cwd, explicit), settings, problems);
  const { value, isFromFile } = chooseValue(folder, { flags, env, file: named }, problems);
  const dataDir = resolve(isFromFile && named ? dirname(named.path) : cwd, value);
  const file = explicit === undefined ? readOwnFile(dataDir, settings, problems) : named;

  const given = { flags, env, file };
  const origins = new Map<Setting<unknown>, string>();
  const read = readTree(others, (each) => {
    if (each.kind === "credential") return readCredential(each, given, problems);
    const { value, where } = chooseValue(each, given, problems);
    if (where !== undefined) origins.set(each, where);
    return value;
  });
  const upstreams = withoutOwnKeys(settings.providers, read.providers);
  const values = { ...read, providers: upstreams.values };
  checkPorts(settings, values, problems);
  if (sources.isServing === true)
    refuseOwnAddresses(settings.providers, values.providers, { listening: values, origins, problems });
  problems.push(...runtimeVariableProblems(env, values.allowEnv, variableOf(settings.allowEnv)));
  const pricing = readPricing(file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = [...warningsOf(env, settings, values), ...upstreams.warnings];
  const notes = describeCustomaryVariables(settings.providers, values.providers, origins);
  return freeze({ ...values, dataDir, configFile: file?.path, pricing, warnings, notes });
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
