import type { Config } from "../../config/config.ts";
import { ConfigError, describeProblem } from "../../config/problem.ts";
import { createSettings } from "../../config/settings.ts";
import { ALERTS, PRICING } from "../../config/settings-file.ts";
import type { PriceCatalog } from "../../domain/ports/catalog.ts";
import type { LeveledLog } from "../../domain/ports/runtime.ts";
import type { Reloaded } from "../../http/admin/config/routes.ts";
import { PROVIDERS } from "../../providers/registry.ts";
import { isCredential, type SettingTable } from "../../toolkit/settings/setting.ts";
import { MASK, type ShownSetting } from "../../toolkit/settings/shown.ts";
import { configuredPricesOf } from "../configured-prices.ts";
import { APPLIED, APPLIED_PARTS, type InForce } from "./in-force.ts";
import { signOf } from "./sign.ts";

export interface ReloadDeps {
  readonly config: InForce;
  /** Reads the settings anew. @throws ConfigError */
  readonly read: () => Config;
  /** A text that differs whenever the settings file does. */
  readonly sign: () => string;
  /** That of the file that `config` was read from. */
  readonly readSign: string;
  readonly log: LeveledLog;
  readonly catalog: PriceCatalog;
  /** The prices of the settings have changed. */
  readonly takePrices: () => void;
  /** The aliases have changed: warns of those that stand for no model. */
  readonly tellAliases: () => void;
  /** The settings, accounts or keys of these providers have changed. Providers of the data folder check for themselves. */
  readonly takeProviders: (ids: readonly string[]) => Promise<void>;
  /** Opens the content checks of settings. @returns a function that puts them in force @throws ConfigError if one cannot be used */
  readonly openChecks: (config: Config) => Promise<() => void>;
  /** Records what the settings file says now. Must not throw: the settings are in force by then. */
  readonly note: (config: Config) => Promise<void>;
  /** The limits on concurrent work have changed. */
  readonly wake: () => void;
}

/** What of changed settings is about models. */
function takeModels(live: readonly string[], deps: Pick<ReloadDeps, "takePrices" | "tellAliases">): void {
  if (live.includes(PRICING)) deps.takePrices();
  if (live.includes("aliases")) deps.tellAliases();
}

/** Applies settings while the service runs: everything that can change, or nothing if anything is wrong. */
export function createReload(deps: ReloadDeps) {
  const { config, log } = deps;
  let shown = config.shown();
  // Kept keys are in files, and settings do not show what they contained when they were applied.
  let signs = signsOf(config, config);
  let last: Promise<unknown> = Promise.resolve();
  let lastRead = deps.readSign;

  async function reload(): Promise<Reloaded> {
    let next: Config;
    let takeChecks: () => void;
    lastRead = deps.sign();
    try {
      next = deps.read();
      requireFile(config, next);
      configuredPricesOf(next, deps.catalog);
      takeChecks = await deps.openChecks(next);
    } catch (error) {
      if (error instanceof ConfigError) return refused(error, log);
      throw error;
    }
    return take(next, takeChecks);
  }

  async function take(next: Config, takeChecks: () => void): Promise<Reloaded> {
    const now = signsOf(next, config);
    const ids = [...now].flatMap(([id, sign]) => (sign === signs.get(id) ? [] : [id]));
    const hidden = hiddenChanges(config, next);
    const live = [...new Set([...differing(shown, next.shown()), ...hidden])].filter(canChange);
    replace(config, next, { changed: live, ids });
    takeChecks();
    takeModels(live, deps);
    if (live.includes("log.level")) log.setLevel(config.log.level);
    await deps.takeProviders(ids);
    signs = now;
    // Providers of the data folder have read their own settings by now.
    const after = next.shown();
    const keys = [...new Set([...differing(shown, after), ...hidden])];
    const restart = keys.filter((key) => !canChange(key));
    const changed = withProviders(keys.filter(canChange), ids);
    await deps.note(next);
    deps.wake();
    shown = inForce(shown, after, restart);
    tell(deps, next, { changed, restart });
    return { isInForce: true, changed, restart, problems: [] };
  }

  return {
    /** One after the other. */
    reload(): Promise<Reloaded> {
      const mine = last.then(reload);
      last = mine.catch(() => undefined);
      return mine;
    },
    /** The settings in force, with where each was given. */
    shown: () => shown,
    /** The sign of the file when it was read last, whether or not it could be used. */
    lastRead: () => lastRead,
  };
}

/** Prices and limits must not fall back to the defaults because somebody moved the file. @throws ConfigError if it is gone */
function requireFile(
  { configFile: before }: Pick<Config, "configFile">,
  next: Pick<Config, "configFile">,
): void {
  if (before === undefined || next.configFile !== undefined) return;
  throw new ConfigError([
    { where: before, message: "is gone; put it back, or restart the server to have the defaults" },
  ]);
}

function refused({ problems: found }: ConfigError, log: LeveledLog): Reloaded {
  const problems = found.map(describeProblem);
  for (const problem of problems) log.error({}, problem);
  log.error({ problems: problems.length }, "the settings cannot be used; those of before stay in force");
  return { isInForce: false, changed: [], restart: [], problems };
}

/** Tells what became of a reload. */
function tell(
  { log, config }: Pick<ReloadDeps, "log" | "config">,
  { warnings }: Pick<Config, "warnings">,
  { changed, restart }: Pick<Reloaded, "changed" | "restart">,
): void {
  if (changed.length > 0) log.info({ settings: changed }, "settings were read anew and are in force");
  if (restart.length > 0)
    log.warn({ settings: restart }, "these settings are others now, and need a restart");
  for (const warning of warnings) if (!config.warnings.includes(warning)) log.warn({}, warning);
  config.warnings = warnings;
}

/** Whether a running server can apply another value. */
export function canChange(key: string): boolean {
  return Object.hasOwn(APPLIED, key) || Object.hasOwn(APPLIED_PARTS, key) || isOfLiveProvider(key);
}

/** A provider's settings may be equal although its key has changed. */
function withProviders(keys: readonly string[], ids: readonly string[]): string[] {
  const others = ids.filter((id) => !keys.some((key) => key.startsWith(`providers.${id}.`)));
  return [...keys, ...others.map((id) => `providers.${id}.accounts`)];
}

/** The signs of the providers that a running server takes up anew. */
function signsOf(
  settings: Pick<Config, "providers" | "accounts">,
  folder: Pick<Config, "dataDir">,
): ReadonlyMap<string, string> {
  return new Map(liveProviders().map((id) => [id, signOf(partOf(settings, id), folder)]));
}

/** Parts whose values have changed where what is shown of them is masked: addresses of alerts may be secrets. */
function hiddenChanges(before: Pick<Config, "alerts">, after: Pick<Config, "alerts">): string[] {
  const [one, other] = [before, after].map(({ alerts }) => alerts.map(({ id }) => id).join());
  return one === other ? [] : [ALERTS];
}

/** Puts settings in the places of those before. */
function replace(
  config: InForce,
  next: Config,
  { changed, ids }: { readonly changed: readonly string[]; readonly ids: readonly string[] },
): void {
  for (const key of changed) (APPLIED[key] ?? APPLIED_PARTS[key])?.(config, next);
  for (const id of ids) {
    Object.assign(config.providers, { [id]: next.providers[id] });
    Object.assign(config.accounts, { [id]: next.accounts[id] });
  }
  const { providerConfig, pricing, moderation, placed, configFile } = next;
  Object.assign(config, { providerConfig, pricing, moderation, placed, configFile });
}

function partOf({ providers, accounts }: Pick<Config, "providers" | "accounts">, id: string) {
  return { values: providers[id] ?? {}, accounts: accounts[id] ?? [] };
}

/** The built-in providers whose settings come into force at once: those with a live setting. */
function liveProviders(): string[] {
  const tables: Readonly<Record<string, SettingTable>> = createSettings({ cores: 1 }, PROVIDERS).providers;
  return Object.entries(tables).flatMap(([id, table]) => (isLive(table) ? id : []));
}

function isLive(table: SettingTable): boolean {
  return Object.values(table).some((entry) => !isCredential(entry) && entry.live === true);
}

/** A provider that the data folder describes always takes effect at once. */
function isOfLiveProvider(key: string): boolean {
  const [section, id = ""] = key.split(".");
  if (section !== "providers") return false;
  const builtIn = PROVIDERS.some((each) => each.id === id);
  return !builtIn || liveProviders().includes(id);
}

/** Keys whose values have changed, or that are given elsewhere in an indistinguishable way. */
export function differing(before: readonly ShownSetting[], after: readonly ShownSetting[]): string[] {
  const keys = new Set([...before, ...after].map(({ key }) => key));
  return [...keys].filter((key) => {
    const [one, other] = [before, after].map((all) => all.find((each) => each.key === key));
    // A provider of the data folder came, or went, with its settings. Other parts of the file come and go by being written.
    const only = one === undefined ? other : other === undefined ? one : undefined;
    if (only !== undefined && (only.help ?? only.restart) !== undefined) return false;
    // Whether two secrets differ cannot be seen; accounts' secrets are compared by their signs.
    if (one?.value === MASK && other?.value === MASK) return false;
    return JSON.stringify(one?.value ?? null) !== JSON.stringify(other?.value ?? null);
  });
}

/** Those that need a restart stay as they were. */
function inForce(
  before: readonly ShownSetting[],
  after: readonly ShownSetting[],
  restart: readonly string[],
): readonly ShownSetting[] {
  const stays = new Set(restart);
  const kept = before.filter(({ key }) => stays.has(key));
  const taken = after.filter(({ key }) => !stays.has(key));
  return [...taken, ...kept];
}
