import { RESPONSE_FORMATS, type ResponseFormat } from "../domain/access/key-policy.ts";
import type { ModelId } from "../domain/ids.ts";
import {
  CALLBACK_DELAYS_MS,
  EDGE_TIMEOUT_MS,
  MAX_CALLBACK_ATTEMPTS,
  SYNC_WAIT_MS,
} from "../domain/limits.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import type { Secret } from "../toolkit/settings/secret.ts";
import {
  credential,
  type Machine,
  type Setting,
  type SettingTable,
  setting,
  type ValuesOf,
} from "../toolkit/settings/setting.ts";
import { aliases } from "./aliases.ts";
import { assetSettings, outputSettings } from "./assets.ts";
import { backupSettings } from "./backups.ts";
import { callerSettings } from "./callers.ts";
import { databaseSettings } from "./database.ts";
import { mcpSettings } from "./mcp.ts";
import { recordingSettings } from "./recordings.ts";
import { retentionSettings } from "./retention.ts";
import { RUNTIME_VARIABLES } from "./runtime-variables.ts";
import { sheddingSettings } from "./shedding.ts";
import { staySettings } from "./stays.ts";
import { tracingSettings } from "./tracing.ts";
import { uploadSettings } from "./uploads.ts";
import { watchingSettings } from "./watching.ts";

/** The settings of one provider, which belong to the provider. */
export interface ProviderSettings {
  readonly id: string;
  /** How people call it; as its id unless given. */
  readonly title?: string | undefined;
  settings(machine: Machine): SettingTable;
  /** The names of the credentials that an account has, all of one of these kinds; all of the table unless given. */
  readonly kinds?: readonly (readonly string[])[] | undefined;
  /** Whether its settings make a default account that needs no key; never unless given. */
  isKeyless?(values: ValuesOf<SettingTable>): boolean;
}

/** Every setting of the service, in the order the help lists them. */
export type Settings = ReturnType<typeof createSettings>;

const MAX_PORT = 65_535;

/**
 * The table from which everything about settings follows: flags, variables, places in svc.yaml, help, checks, suggestions, and
 * the shape of `Config`.
 */
export function createSettings(machine: Machine, providers: readonly ProviderSettings[]) {
  return {
    dataDir: setting<string>({
      key: "data_dir",
      flag: "-d, --data-dir <folder>",
      help: "folder for all data; created if missing",
      parse: parse.text,
      fallback: "./svc-data",
    }),
    ...databaseSettings(),
    host: setting<string>({
      key: "host",
      flag: "-H, --host <host>",
      help: "address to listen on; 0.0.0.0 for every IPv4 address of this machine",
      parse: parse.host,
      fallback: "127.0.0.1",
    }),
    port: setting<number | undefined>({
      key: "port",
      flag: "-p, --port <port>",
      help: "port of the API; 0 for any free one, off for none beside a long port",
      parse: parse.portOrOff(parse.integer(0, MAX_PORT)),
      fallback: 8787,
    }),
    longPort: setting<number | undefined>({
      key: "long_port",
      flag: "--long-port <port>",
      help: "second port, for requests that take long; 0 for any free one, off for none",
      parse: parse.portOrOff(parse.integer(0, MAX_PORT)),
      fallback: undefined,
      fallbackText: "off",
    }),
    publicUrl: setting<string | undefined>({
      key: "public_url",
      flag: "--public-url <url>",
      help: "scheme and host under which callers reach this service, for URLs in answers; unset: what each caller used",
      parse: parse.origin,
      fallback: undefined,
    }),
    hooks: setting<boolean>({
      key: "hooks",
      flag: "--no-hooks",
      help: "providers are told to call public_url when a job is done; --no-hooks has them asked only",
      parse: parse.boolean,
      fallback: true,
    }),
    search: {
      prompts: setting<boolean>({
        key: "search.prompts",
        flag: "--no-search-prompts",
        help: "prompts are indexed, so that tasks are found by their words; --no-search-prompts removes what was indexed",
        parse: parse.boolean,
        fallback: true,
      }),
    },
    console: setting<boolean>({
      key: "console",
      flag: "--no-console",
      help: "the console, a page at /console for browsers; --no-console leaves it out",
      parse: parse.boolean,
      fallback: true,
    }),
    ...callerSettings(),
    trustedProxies: setting<readonly string[]>({
      key: "trusted_proxies",
      live: true,
      flag: "--trusted-proxies <ranges...>",
      help: "addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted",
      parse: parse.cidrs,
      fallback: [],
      fallbackText: "none",
    }),
    proxy: setting<Secret | undefined>({
      key: "proxy",
      flag: "--proxy <url>",
      help: "proxy for requests to providers and for the files they made, and nothing else; give a password by SVC_PROXY, which other users cannot see",
      parse: parse.proxyUrl,
      fallback: undefined,
      fallbackText: "none",
      isSecret: true,
    }),
    edgeTimeoutMs: setting<number>({
      key: "edge.timeout_seconds",
      flag: "--edge-timeout-seconds <seconds>",
      help: "how long a request to the API's port may take; the long port has no such limit",
      parse: parse.secondsAsMs(1, 3600),
      fallback: EDGE_TIMEOUT_MS,
      fallbackText: "120",
    }),
    sync: {
      waitMs: setting<number>({
        key: "sync.wait_seconds",
        live: true,
        flag: "--sync-wait-seconds <seconds>",
        help: "how long a synchronous call waits for its images before it answers 504",
        parse: parse.secondsAsMs(1, 3600),
        fallback: SYNC_WAIT_MS,
        fallbackText: "300",
      }),
      responseFormat: setting<ResponseFormat>({
        key: "sync.response_format",
        live: true,
        flag: "--sync-response-format <format>",
        help: "b64_json or url: the answer of synchronous calls when neither request nor key chooses",
        parse: parse.oneOf(RESPONSE_FORMATS),
        fallback: "b64_json",
      }),
    },
    ...staySettings(),
    ...mcpSettings(),
    aliases: setting<Readonly<Record<string, ModelId>>>({
      key: "aliases",
      live: true,
      flag: "--alias <name=model...>",
      help: "other names for models, such as gpt-image-1=sandbox-image",
      parse: aliases,
      fallback: {},
      fallbackText: "none",
    }),
    secretKey: credential({ variable: "SVC_SECRET_KEY", parse: parse.secretKey }),
    previousSecretKey: credential({ variable: "SVC_SECRET_KEY_PREVIOUS", parse: parse.secretKey }),
    allowEnv: setting<readonly string[]>({
      key: "allow_env",
      flag: "--allow-env <names...>",
      help: `variables that may change how the executable runs, of ${RUNTIME_VARIABLES.join(", ")}; else they end the start`,
      parse: parse.listOf(RUNTIME_VARIABLES),
      fallback: [],
      fallbackText: "none",
    }),
    ...watchingSettings(),
    scheduler: {
      concurrency: setting<number>({
        key: "scheduler.concurrency",
        live: true,
        flag: "--scheduler-concurrency <tasks>",
        help: "most tasks submitted and not ended at one time",
        parse: parse.integer(1, 100_000),
        fallback: 512,
      }),
      steps: setting<number>({
        key: "scheduler.steps",
        live: true,
        flag: "--scheduler-steps <steps>",
        help: "most steps of tasks at one time",
        parse: parse.integer(1, 10_000),
        fallback: 256,
      }),
      leaseMs: setting<number>({
        key: "scheduler.lease_seconds",
        flag: "--scheduler-lease-seconds <seconds>",
        help: "how long a step may show no sign of life before another one takes over its task",
        parse: parse.secondsAsMs(1, 3600),
        fallback: 30_000,
        fallbackText: "30",
      }),
      drainMs: setting<number>({
        key: "scheduler.drain_seconds",
        flag: "--scheduler-drain-seconds <seconds>",
        help: "how long a stopping server waits for running steps",
        parse: parse.secondsAsMs(0, 3600),
        fallback: 25_000,
        fallbackText: "25",
      }),
    },
    providers: Object.fromEntries(providers.map((provider) => [provider.id, provider.settings(machine)])),
    callbacks: {
      delaysMs: setting<readonly number[]>({
        key: "callbacks.delays_seconds",
        live: true,
        flag: "--callbacks-delays-seconds <seconds...>",
        help: "delays between the attempts of a callback, up to four",
        parse: parse.listOfSecondsAsMs({ most: MAX_CALLBACK_ATTEMPTS - 1, min: 0.01, max: 86_400 }),
        fallback: CALLBACK_DELAYS_MS,
        fallbackText: "5,60,600,3600",
      }),
      limits: {
        total: setting<number>({
          key: "callbacks.concurrency",
          live: true,
          flag: "--callbacks-concurrency <sends>",
          help: "most callbacks sent at one time",
          parse: parse.integer(1, 10_000),
          fallback: 256,
        }),
        perAccount: setting<number>({
          key: "callbacks.account_concurrency",
          live: true,
          flag: "--callbacks-account-concurrency <sends>",
          help: "most callbacks of one account sent at one time",
          parse: parse.integer(1, 10_000),
          fallback: 64,
        }),
        perHost: setting<number>({
          key: "callbacks.host_concurrency",
          flag: "--callbacks-host-concurrency <sends>",
          help: "most callbacks of one account sent to one host at one time, while it answers well",
          parse: parse.integer(1, 10_000),
          fallback: 32,
        }),
      },
    },
    outputs: outputSettings(),
    assets: assetSettings(),
    ...sheddingSettings(),
    ...backupSettings(),
    ...retentionSettings(),
    uploads: uploadSettings(),
    ...tracingSettings(),
    ...recordingSettings(),
    egress: {
      allow: setting<readonly string[]>({
        key: "egress.allow",
        live: true,
        flag: "--egress-allow <ranges...>",
        help: "private address ranges that callbacks and input URLs may reach, such as 192.168.1.0/24",
        parse: parse.cidrs,
        fallback: [],
        fallbackText: "none",
      }),
    },
  };
}

/** How the names of all variables of this program begin. */
export const VARIABLE_PREFIX = "SVC_";

/** The variable of a setting: `SVC_LOG_LEVEL` for the key `log.level`. */
export function variableOf({ key }: Pick<Setting<unknown>, "key">): string {
  return VARIABLE_PREFIX + key.replaceAll(/[.-]/g, "_").toUpperCase();
}
