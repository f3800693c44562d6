import { RESPONSE_FORMATS, type ResponseFormat } from "../domain/access/key-policy.ts";
import {
  CALLBACK_DELAYS_MS,
  EDGE_TIMEOUT_MS,
  MAX_CALLBACK_ATTEMPTS,
  SYNC_WAIT_MS,
} from "../domain/limits.ts";
import * as parse from "./parsers.ts";

export interface Setting<T> {
  /** Its place in svc.yaml, by dots. */
  readonly key: string;
  readonly env: string;
  /** A variable of customary name that counts where `env` is not set. */
  readonly customaryEnv?: string | undefined;
  /** As it is typed, with its argument: `--port <port>`. */
  readonly flag: string;
  /** Under which name the flag's value arrives. */
  readonly option: string;
  readonly help: string;
  readonly parse: parse.Parser<T>;
  readonly fallback: T;
  /** The default, for people; absent where the help says it. */
  readonly fallbackText?: string | undefined;
}

/** Every setting of the service, in the order the help lists them. */
export type Settings = ReturnType<typeof createSettings>;

/** What each setting has been set to. */
export type SettingValues = { readonly [K in keyof Settings]: Settings[K]["fallback"] };

const MAX_PORT = 65_535;
const DEFAULT_WORKERS = 2;
const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
const LOG_FORMATS = ["auto", "pretty", "json"] as const;

/** The table everything about settings follows from: parsing, flags, variables, help and suggestions. */
export function createSettings({ cores }: { readonly cores: number }) {
  return {
    dataDir: setting<string>({
      key: "data_dir",
      flag: "-d, --data-dir <folder>",
      help: "where everything is kept; created if missing",
      parse: parse.text,
      fallback: "./svc-data",
    }),
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
    trustedProxies: setting<readonly string[]>({
      key: "trusted_proxies",
      flag: "--trusted-proxies <ranges...>",
      help: "addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
      parse: parse.cidrs,
      fallback: [],
      fallbackText: "none",
    }),
    edgeTimeoutMs: setting<number>({
      key: "edge.timeout_seconds",
      flag: "--edge-timeout-seconds <seconds>",
      help: "how long a request to the API's port may take; the long port has no such limit",
      parse: parse.secondsAsMs(1, 3600),
      fallback: EDGE_TIMEOUT_MS,
      fallbackText: "120",
    }),
    syncWaitMs: setting<number>({
      key: "sync.wait_seconds",
      flag: "--sync-wait-seconds <seconds>",
      help: "how long a synchronous call waits for its images before it is answered 504",
      parse: parse.secondsAsMs(1, 3600),
      fallback: SYNC_WAIT_MS,
      fallbackText: "300",
    }),
    syncResponseFormat: setting<ResponseFormat>({
      key: "sync.response_format",
      flag: "--sync-response-format <format>",
      help: "b64_json or url: what synchronous calls answer when neither request nor key says",
      parse: parse.oneOf(RESPONSE_FORMATS),
      fallback: "b64_json",
    }),
    aliases: setting<Readonly<Record<string, string>>>({
      key: "aliases",
      flag: "--alias <name=model...>",
      help: "other names for models, such as gpt-image-1=sandbox-image",
      parse: parse.aliases,
      fallback: {},
      fallbackText: "none",
    }),
    logLevel: setting<(typeof LOG_LEVELS)[number]>({
      key: "log.level",
      flag: "--log-level <level>",
      help: "debug, info, warn or error",
      parse: parse.oneOf(LOG_LEVELS),
      fallback: "info",
    }),
    logFormat: setting<(typeof LOG_FORMATS)[number]>({
      key: "log.format",
      flag: "--log-format <format>",
      help: "pretty, json, or auto: pretty on a terminal, json elsewhere",
      parse: parse.oneOf(LOG_FORMATS),
      fallback: "auto",
    }),
    schedulerConcurrency: setting<number>({
      key: "scheduler.concurrency",
      flag: "--scheduler-concurrency <tasks>",
      help: "tasks between their submission and their end at one time",
      parse: parse.integer(1, 100_000),
      fallback: 512,
    }),
    schedulerSteps: setting<number>({
      key: "scheduler.steps",
      flag: "--scheduler-steps <steps>",
      help: "steps of tasks worked on at one time",
      parse: parse.integer(1, 10_000),
      fallback: 256,
    }),
    schedulerLeaseMs: setting<number>({
      key: "scheduler.lease_seconds",
      flag: "--scheduler-lease-seconds <seconds>",
      help: "how long a step may go without a sign of life before another takes the task over",
      parse: parse.secondsAsMs(1, 3600),
      fallback: 30_000,
      fallbackText: "30",
    }),
    schedulerDrainMs: setting<number>({
      key: "scheduler.drain_seconds",
      flag: "--scheduler-drain-seconds <seconds>",
      help: "how long a stopping server lets running steps end",
      parse: parse.secondsAsMs(0, 3600),
      fallback: 25_000,
      fallbackText: "25",
    }),
    sandboxEnabled: setting<boolean>({
      key: "sandbox.enabled",
      flag: "--no-sandbox",
      help: "the built-in sandbox models, which need no provider; --no-sandbox leaves them out",
      parse: parse.boolean,
      fallback: true,
    }),
    sandboxConcurrency: setting<number>({
      key: "sandbox.concurrency",
      flag: "--sandbox-concurrency <tasks>",
      help: "sandbox tasks at one time",
      parse: parse.integer(1, 10_000),
      fallback: 64,
    }),
    sandboxWorkers: setting<number>({
      key: "sandbox.workers",
      flag: "--sandbox-workers <threads>",
      help: "threads the sandbox draws with, at most one for each core",
      parse: parse.integer(1, cores, ", the cores of this machine"),
      // One core stays free for requests.
      fallback: Math.max(1, Math.min(DEFAULT_WORKERS, cores - 1)),
    }),
    openaiBaseUrl: setting<string>({
      key: "providers.openai.base_url",
      customaryEnv: "OPENAI_BASE_URL",
      flag: "--openai-base-url <url>",
      help: "server of the OpenAI images API; OPENAI_API_KEY switches this provider on, OPENAI_BASE_URL counts too",
      parse: parse.apiUrl,
      fallback: "https://api.openai.com/v1",
    }),
    openaiConcurrency: setting<number>({
      key: "providers.openai.concurrency",
      flag: "--openai-concurrency <tasks>",
      help: "OpenAI tasks at one time; each keeps one of scheduler.steps until its images are there",
      parse: parse.integer(1, 10_000),
      fallback: 8,
    }),
    openaiIdempotent: setting<boolean>({
      key: "providers.openai.idempotent",
      flag: "--openai-idempotent",
      help: "that server honours Idempotency-Key, as another svc does; api.openai.com does not",
      parse: parse.boolean,
      fallback: false,
    }),
    falBaseUrl: setting<string>({
      key: "providers.fal.base_url",
      flag: "--fal-base-url <url>",
      help: "address of fal's queue; FAL_KEY switches this provider on",
      parse: parse.apiUrl,
      fallback: "https://queue.fal.run",
    }),
    falConcurrency: setting<number>({
      key: "providers.fal.concurrency",
      flag: "--fal-concurrency <tasks>",
      help: "fal tasks at one time",
      parse: parse.integer(1, 10_000),
      fallback: 32,
    }),
    callbackDelaysMs: setting<readonly number[]>({
      key: "callbacks.delays_seconds",
      flag: "--callbacks-delays-seconds <seconds...>",
      help: "how long after each attempt of a callback the next one follows; the first may be followed by up to four",
      parse: parse.listOfSecondsAsMs({ most: MAX_CALLBACK_ATTEMPTS - 1, min: 0.01, max: 86_400 }),
      fallback: CALLBACK_DELAYS_MS,
      fallbackText: "5,60,600,3600",
    }),
    callbackConcurrency: setting<number>({
      key: "callbacks.concurrency",
      flag: "--callbacks-concurrency <sends>",
      help: "callbacks sent at one time",
      parse: parse.integer(1, 10_000),
      fallback: 256,
    }),
    callbackAccountConcurrency: setting<number>({
      key: "callbacks.account_concurrency",
      flag: "--callbacks-account-concurrency <sends>",
      help: "callbacks of one account sent at one time",
      parse: parse.integer(1, 10_000),
      fallback: 64,
    }),
    callbackHostConcurrency: setting<number>({
      key: "callbacks.host_concurrency",
      flag: "--callbacks-host-concurrency <sends>",
      help: "callbacks of one account sent to one host at one time",
      parse: parse.integer(1, 10_000),
      fallback: 4,
    }),
    egressAllow: setting<readonly string[]>({
      key: "egress.allow",
      flag: "--egress-allow <ranges...>",
      help: "private address ranges that callbacks and input URLs may reach, such as 192.168.1.0/24",
      parse: parse.cidrs,
      fallback: [],
      fallbackText: "none",
    }),
  };
}

/** The key itself is part of the variable's name; only flags have a form of their own. */
function setting<T>(given: Omit<Setting<T>, "env" | "option">): Setting<T> {
  const long = /--(?:no-)?([a-z-]+)/.exec(given.flag)?.[1] ?? given.key;
  return {
    ...given,
    env: `SVC_${given.key.replaceAll(".", "_").toUpperCase()}`,
    option: long.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  };
}

/** Credentials of providers, each of which switches its provider on. In the environment alone: argument lists and files are read by others. */
export const KEY_VARIABLES = { openai: "OPENAI_API_KEY", fal: "FAL_KEY" } as const;

/** Variables that are not settings of the server, but belong to the client half, the build, or the native libraries. */
export const OTHER_VARIABLES = [
  "SVC_CONFIG",
  "SVC_BIN",
  "SVC_SERVER",
  "SVC_API_KEY",
  "SVC_NATIVE_DIR",
  "SVC_OUTPUT",
] as const;
