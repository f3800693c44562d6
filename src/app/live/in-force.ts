import type { Config } from "../../config/config.ts";

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type Groups = "log" | "cors" | "sync" | "scheduler" | "providers" | "accounts";

/**
 * The settings in force. Everybody reads them where they are, so that a value that is replaced here is in force from then on. Only the
 * table below replaces any.
 */
export type InForce = Writable<Omit<Config, Groups | "stays">> & {
  readonly [Group in Groups]: Writable<Config[Group]>;
} & {
  readonly stays: { readonly [Part in keyof Config["stays"]]: Writable<Config["stays"][Part]> };
};

/** A copy of settings whose live values can be replaced. */
export function settingsInForce(config: Config): InForce {
  const { log, cors, sync, scheduler, providers, accounts, stays } = config;
  return {
    ...config,
    ...{ log: { ...log }, cors: { ...cors }, sync: { ...sync }, scheduler: { ...scheduler } },
    ...{ providers: { ...providers }, accounts: { ...accounts } },
    stays: { perKey: { ...stays.perKey }, perAccount: { ...stays.perAccount } },
    aliases: { ...config.aliases },
  };
}

/** Replaces the value of one setting. */
type Apply = (to: InForce, from: Config) => void;

/** How each live setting of the service comes into force; those of providers are in `providers.ts`. */
export const APPLIED: Readonly<Record<string, Apply>> = {
  trusted_proxies: (to, { trustedProxies }) => {
    to.trustedProxies = trustedProxies;
  },
  "cors.origins": (to, { cors }) => {
    to.cors.origins = cors.origins;
  },
  "sync.wait_seconds": (to, { sync }) => {
    to.sync.waitMs = sync.waitMs;
  },
  "sync.response_format": (to, { sync }) => {
    to.sync.responseFormat = sync.responseFormat;
  },
  "streams.key_concurrency": (to, { stays }) => {
    to.stays.perKey.streams = stays.perKey.streams;
  },
  "waits.key_concurrency": (to, { stays }) => {
    to.stays.perKey.waits = stays.perKey.waits;
  },
  "streams.account_concurrency": (to, { stays }) => {
    to.stays.perAccount.streams = stays.perAccount.streams;
  },
  "waits.account_concurrency": (to, { stays }) => {
    to.stays.perAccount.waits = stays.perAccount.waits;
  },
  // Who reads them holds the object itself.
  aliases: (to, { aliases }) => {
    const held = to.aliases as Writable<Config["aliases"]>;
    for (const name of Object.keys(held)) delete (held as Record<string, unknown>)[name];
    Object.assign(held, aliases);
  },
  "log.level": (to, { log }) => {
    to.log.level = log.level;
  },
  "scheduler.concurrency": (to, { scheduler }) => {
    to.scheduler.concurrency = scheduler.concurrency;
  },
  "scheduler.steps": (to, { scheduler }) => {
    to.scheduler.steps = scheduler.steps;
  },
};
