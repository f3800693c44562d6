import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import type { ResponseFormat } from "../domain/access/key-policy.ts";
import type { ModelId } from "../domain/ids.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import type { SendLimits } from "../domain/ports/callback-store.ts";
import { suggest } from "../domain/suggest.ts";
import { apiKey } from "./parsers.ts";
import { type ConfigProblem, describeProblem, show } from "./problem.ts";
import { createSecret, type Secret } from "./secret.ts";
import {
  createSettings,
  KEY_VARIABLES,
  OTHER_VARIABLES,
  type Setting,
  type Settings,
  type SettingValues,
} from "./settings.ts";
import { PRICING, readNamedFile, readOwnFile, type SettingsFile } from "./settings-file.ts";

/** Everything an operator can decide, checked and complete. */
export interface Config {
  /** Absolute. */
  readonly dataDir: string;
  /** The settings file that was read, if there was one. */
  readonly configFile?: string | undefined;
  readonly host: string;
  /** Of the default address. 0: any free port; absent: there is none. */
  readonly port?: number | undefined;
  /** Of the address for requests that take long. Absent: there is none. */
  readonly longPort?: number | undefined;
  /** Scheme and host, without a trailing slash. */
  readonly publicUrl?: string | undefined;
  /** Reverse proxies that are believed, in CIDR form. */
  readonly trustedProxies: readonly string[];
  /** How long a request to the default address may take. */
  readonly edgeTimeoutMs: number;
  readonly sync: { readonly waitMs: number; readonly responseFormat: ResponseFormat };
  /** Other names for models, and the models' ids. */
  readonly aliases: Readonly<Record<string, ModelId>>;
  /** Price rules by model id, as the settings file has them; models say whether they can be. */
  readonly pricing: JsonObject;
  readonly log: {
    readonly level: "debug" | "info" | "warn" | "error";
    readonly format: "auto" | "pretty" | "json";
  };
  readonly scheduler: {
    readonly concurrency: number;
    readonly steps: number;
    readonly leaseMs: number;
    readonly drainMs: number;
  };
  readonly sandbox: { readonly enabled: boolean; readonly concurrency: number; readonly workers: number };
  readonly providers: {
    readonly openai: {
      /** Absent: the provider is switched off. */
      readonly key?: Secret | undefined;
      readonly baseUrl: string;
      readonly concurrency: number;
      readonly isIdempotent: boolean;
    };
    readonly fal: {
      readonly key?: Secret | undefined;
      readonly baseUrl: string;
      readonly concurrency: number;
    };
  };
  readonly callbacks: { readonly delaysMs: readonly number[]; readonly limits: SendLimits };
  /** Address ranges in CIDR form. */
  readonly egress: { readonly allow: readonly string[] };
  /** Nothing that keeps the service from running, but worth a look. */
  readonly warnings: readonly string[];
}

/** Why the service cannot run as configured: all the reasons, not only the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(problems.map(describeProblem).join("\n"));
  }
}

export interface ConfigSources {
  /** By the settings' option names; absent where no flag was given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A settings file in place of svc.yaml in the data folder. */
  readonly file?: string | undefined;
  readonly cwd: string;
  /** Of the machine; found out unless given. */
  readonly cores?: number;
}

/** Flags over variables over the settings file over defaults. @throws ConfigError with every problem there is */
export function loadConfig(sources: ConfigSources): Config {
  const { flags = {}, env = {}, cwd } = sources;
  const problems: ConfigProblem[] = [];
  const settings = createSettings({ cores: sources.cores ?? availableParallelism() });
  const choose = <T>(setting: Setting<T>, file?: SettingsFile): Chosen<T> =>
    chooseValue(setting, { flags, env, file }, problems);

  const explicit = sources.file ?? (env.SVC_CONFIG || undefined);
  const named =
    explicit === undefined ? undefined : readNamedFile(resolve(cwd, explicit), settings, problems);
  const { value: folder, isFromFile } = choose(settings.dataDir, named);
  const dataDir = resolve(isFromFile && named ? dirname(named.path) : cwd, folder);
  const file = explicit === undefined ? readOwnFile(dataDir, settings, problems) : named;

  // The table's entries and their values have the same names, which a mapped type cannot tell from here.
  const values = Object.fromEntries(
    Object.entries(settings)
      .filter(([name]) => name !== "dataDir")
      .map(([name, setting]) => [name, choose<unknown>(setting, file).value]),
  ) as unknown as Omit<SettingValues, "dataDir">;
  if (values.longPort !== undefined && values.longPort !== 0 && values.longPort === values.port) {
    problems.push({
      where: settings.longPort.key,
      message: `must be another port than ${settings.port.key}, which is ${values.port} too`,
    });
  }
  if (values.port === undefined && values.longPort === undefined) {
    problems.push({
      where: `${settings.port.key}, ${settings.longPort.key}`,
      message: "are both off, which leaves no address to listen on",
    });
  }
  const pricing = readPricing(file, problems);
  const keys = {
    openai: readKey(env, KEY_VARIABLES.openai, problems),
    fal: readKey(env, KEY_VARIABLES.fal, problems),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = [...warningsOf(env, settings, values), ...plainTextWarnings(values, keys)];
  return assemble({ ...values, dataDir }, keys, { path: file?.path, pricing }, warnings);
}

interface Chosen<T> {
  readonly value: T;
  readonly isFromFile: boolean;
}

function chooseValue<T>(
  setting: Setting<T>,
  from: {
    flags: Readonly<Record<string, unknown>>;
    env: Readonly<Record<string, string | undefined>>;
    file?: SettingsFile | undefined;
  },
  problems: ConfigProblem[],
): Chosen<T> {
  const candidates = [
    { where: longFlag(setting), raw: from.flags[setting.option], isFromFile: false },
    // An empty variable is one that is not set: that is how container files leave one out.
    ...[setting.env, setting.customaryEnv]
      .flatMap((name) => name ?? [])
      .map((name) => ({
        where: name,
        raw: from.env[name] || undefined,
        isFromFile: false,
      })),
    {
      where: `${from.file?.path}: ${setting.key}`,
      raw: from.file?.values.get(setting.key),
      isFromFile: true,
    },
  ];
  const given = candidates.filter(({ raw }) => raw !== undefined && raw !== null);
  let chosen: Chosen<T> | undefined;
  // All of them are checked, also those that another one goes before.
  for (const { where, raw, isFromFile } of given) {
    const parsed = setting.parse(raw);
    if (parsed.ok) chosen ??= { value: parsed.value, isFromFile };
    else problems.push({ where, message: `must be ${parsed.expected}, got ${show(raw)}` });
  }
  return chosen ?? { value: setting.fallback, isFromFile: false };
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

type Keys = Readonly<Record<keyof typeof KEY_VARIABLES, Secret | undefined>>;

function readKey(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  problems: ConfigProblem[],
): Secret | undefined {
  const raw = env[variable];
  if (raw === undefined || raw.trim() === "") return undefined;
  const parsed = apiKey(raw);
  if (parsed.ok) return createSecret(parsed.value);
  problems.push({ where: variable, message: `must be ${parsed.expected}` });
  return undefined;
}

/** Keys that would cross a network for everybody on it to read. */
function plainTextWarnings(
  values: Pick<SettingValues, "openaiBaseUrl" | "falBaseUrl">,
  keys: Keys,
): string[] {
  const given: [Secret | undefined, string, string][] = [
    [keys.openai, KEY_VARIABLES.openai, values.openaiBaseUrl],
    [keys.fal, KEY_VARIABLES.fal, values.falBaseUrl],
  ];
  return given.flatMap(([key, variable, baseUrl]) => {
    const { protocol, hostname } = new URL(baseUrl);
    const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
    if (key === undefined || protocol === "https:" || isLocal) return [];
    return [`${variable} goes to ${hostname} over http, where anybody on the way can read it; use https.`];
  });
}

function warningsOf(
  env: Readonly<Record<string, string | undefined>>,
  settings: Settings,
  { host, publicUrl }: Pick<SettingValues, "host" | "publicUrl">,
): string[] {
  const known = Object.values(settings).map((setting) => setting.env);
  const others: readonly string[] = OTHER_VARIABLES;
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("SVC_") && !known.includes(name) && !others.includes(name),
  );
  const warnings = unknown.sort().map((name) => {
    const suggestion = suggest(name, [...known, ...others]);
    return `${name} is set, but is no setting of svc.${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`;
  });
  if ((host === "0.0.0.0" || host === "::") && publicUrl === undefined) {
    warnings.push(
      `Listening on every address (${host}) without public_url: URLs of results repeat whatever host a caller used, and nothing here encrypts. Put a TLS proxy in front and set public_url.`,
    );
  }
  if (env.BUN_OPTIONS)
    warnings.push(
      "BUN_OPTIONS is set and changes how svc itself runs; unset it unless that is what you want.",
    );
  return warnings;
}

function assemble(
  values: SettingValues,
  keys: Keys,
  file: { readonly path: string | undefined; readonly pricing: JsonObject },
  warnings: readonly string[],
): Config {
  return Object.freeze({
    dataDir: values.dataDir,
    configFile: file.path,
    host: values.host,
    port: values.port,
    longPort: values.longPort,
    publicUrl: values.publicUrl,
    trustedProxies: Object.freeze([...values.trustedProxies]),
    edgeTimeoutMs: values.edgeTimeoutMs,
    sync: Object.freeze({ waitMs: values.syncWaitMs, responseFormat: values.syncResponseFormat }),
    // Whether a model of such an id is there is known when one is asked for.
    aliases: Object.freeze({ ...values.aliases } as Record<string, ModelId>),
    pricing: Object.freeze({ ...file.pricing }),
    log: Object.freeze({ level: values.logLevel, format: values.logFormat }),
    scheduler: Object.freeze({
      concurrency: values.schedulerConcurrency,
      steps: values.schedulerSteps,
      leaseMs: values.schedulerLeaseMs,
      drainMs: values.schedulerDrainMs,
    }),
    sandbox: Object.freeze({
      enabled: values.sandboxEnabled,
      concurrency: values.sandboxConcurrency,
      workers: values.sandboxWorkers,
    }),
    providers: Object.freeze({
      openai: Object.freeze({
        key: keys.openai,
        baseUrl: values.openaiBaseUrl,
        concurrency: values.openaiConcurrency,
        isIdempotent: values.openaiIdempotent,
      }),
      fal: Object.freeze({
        key: keys.fal,
        baseUrl: values.falBaseUrl,
        concurrency: values.falConcurrency,
      }),
    }),
    callbacks: Object.freeze({
      delaysMs: Object.freeze([...values.callbackDelaysMs]),
      limits: Object.freeze({
        total: values.callbackConcurrency,
        perAccount: values.callbackAccountConcurrency,
        perHost: values.callbackHostConcurrency,
      }),
    }),
    egress: Object.freeze({ allow: Object.freeze([...values.egressAllow]) }),
    warnings: Object.freeze([...warnings]),
  });
}

function longFlag(setting: Setting<unknown>): string {
  return /--[a-z-]+/.exec(setting.flag)?.[0] ?? setting.flag;
}
