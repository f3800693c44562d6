import type { Config } from "../../config/config.ts";
import { ALERTS, MODERATION, PRICING } from "../../config/settings-file.ts";

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type Groups =
  | ("log" | "cors" | "sync" | "scheduler" | "providers" | "accounts" | "retention" | "disk" | "shed")
  | ("egress" | "uploads" | "mcp");

/**
 * The settings in force. All code reads this object, so a value that is replaced here is in force from then on. Only the table below
 * replaces values.
 */
export type InForce = Writable<Omit<Config, Groups | "stays" | "callbacks">> & {
  readonly [Group in Groups]: Writable<Config[Group]>;
} & {
  readonly stays: { readonly [Part in keyof Config["stays"]]: Writable<Config["stays"][Part]> };
  readonly callbacks: Writable<Omit<Config["callbacks"], "limits">> & {
    readonly limits: Writable<Config["callbacks"]["limits"]>;
  };
};

/** A copy of settings whose live values can be replaced. */
export function settingsInForce(config: Config): InForce {
  const { log, cors, sync, scheduler, providers, accounts, stays } = config;
  const { retention, disk, shed, egress, callbacks, uploads } = config;
  return {
    ...config,
    ...{ retention: { ...retention }, disk: { ...disk }, shed: { ...shed }, egress: { ...egress } },
    uploads: { ...uploads },
    callbacks: { ...callbacks, limits: { ...callbacks.limits } },
    ...{ log: { ...log }, cors: { ...cors }, sync: { ...sync }, scheduler: { ...scheduler } },
    ...{ providers: { ...providers }, accounts: { ...accounts } },
    stays: { perKey: { ...stays.perKey }, perAccount: { ...stays.perAccount } },
    ...{ aliases: { ...config.aliases }, mcp: { ...config.mcp } },
  };
}

/** Replaces the value of one setting. */
type Apply = (to: InForce, from: Config) => void;

/** How each live setting of the service takes effect; `providers.ts` handles those of providers. */
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
  "mcp.max_cost_required_above": (to, { mcp }) => {
    to.mcp.maxCostRequiredAbove = mcp.maxCostRequiredAbove;
  },
  "mcp.inline_bytes": (to, { mcp }) => {
    to.mcp.inlineBytes = mcp.inlineBytes;
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
  // Its readers hold the object itself.
  aliases: (to, { aliases }) => {
    const held = to.aliases as Writable<Config["aliases"]>;
    for (const name of Object.keys(held)) delete (held as Record<string, unknown>)[name];
    Object.assign(held, aliases);
  },
  "log.requests": (to, { log }) => {
    to.log.requests = log.requests;
  },
  "retention.outputs_seconds": (to, { retention }) => {
    to.retention.outputsMs = retention.outputsMs;
  },
  "retention.inputs_seconds": (to, { retention }) => {
    to.retention.inputsMs = retention.inputsMs;
  },
  "retention.callbacks_seconds": (to, { retention }) => {
    to.retention.callbacksMs = retention.callbacksMs;
  },
  "retention.tasks_seconds": (to, { retention }) => {
    to.retention.tasksMs = retention.tasksMs;
  },
  "uploads.keep_seconds": (to, { uploads }) => {
    to.uploads.keepMs = uploads.keepMs;
  },
  "uploads.account_mb": (to, { uploads }) => {
    to.uploads.accountMb = uploads.accountMb;
  },
  "retention.books_seconds": (to, { retention }) => {
    to.retention.booksMs = retention.booksMs;
  },
  "disk.warn_mb": (to, { disk }) => {
    to.disk.warnMb = disk.warnMb;
  },
  "disk.refuse_mb": (to, { disk }) => {
    to.disk.refuseMb = disk.refuseMb;
  },
  "shed.queue_seconds": (to, { shed }) => {
    to.shed.queueMs = shed.queueMs;
  },
  "shed.lag_ms": (to, { shed }) => {
    to.shed.lagMs = shed.lagMs;
  },
  "shed.memory_mb": (to, { shed }) => {
    to.shed.memoryMb = shed.memoryMb;
  },
  "egress.allow": (to, { egress }) => {
    to.egress.allow = egress.allow;
  },
  "callbacks.delays_seconds": (to, { callbacks }) => {
    to.callbacks.delaysMs = callbacks.delaysMs;
  },
  "callbacks.concurrency": (to, { callbacks }) => {
    to.callbacks.limits.total = callbacks.limits.total;
  },
  "callbacks.account_concurrency": (to, { callbacks }) => {
    to.callbacks.limits.perAccount = callbacks.limits.perAccount;
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

/** Parts of svc.yaml that are not separate settings and take effect at once. The catalogue reads prices. */
export const APPLIED_PARTS: Readonly<Record<string, Apply>> = {
  [PRICING]: (to, { pricing }) => {
    to.pricing = pricing;
  },
  [MODERATION]: (to, { moderation }) => {
    to.moderation = moderation;
  },
  [ALERTS]: (to, { alerts }) => {
    to.alerts = alerts;
  },
};
