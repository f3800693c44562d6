import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { LaneId, ProviderId } from "../domain/ids.ts";
import { providerOf } from "../domain/lane.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { ProviderAdapter } from "../domain/ports/provider.ts";
import type { RouteStore } from "../domain/ports/route-store.ts";
import type { Log, SteadyClock } from "../domain/ports/runtime.ts";
import { FORM_BYTES } from "../providers/declared/form.ts";
import {
  type CreateDeps,
  createAccounts,
  createProviders,
  PROVIDERS,
  providerNeeds,
} from "../providers/registry.ts";
import { systemRandom } from "../runtime/random.ts";
import { createWays } from "../scheduler/routing/ways.ts";
import { type OwnFile, watchOwnFiles } from "../toolkit/own-files.ts";
import type { Releases } from "./lifecycle.ts";
import { pictureBytes } from "./memory.ts";
import type { createOwnProviders, OwnProvider, OwnProviders, OwnProvidersDeps } from "./own-providers.ts";
import type { ProviderProblem } from "./provider-settings.ts";
import { OWN_PROVIDERS } from "./settings.ts";
import type { Taping } from "./taping.ts";
import { createUnseal } from "./unseal.ts";

export interface ProvidersDeps {
  readonly clock: SteadyClock;
  readonly log: Log;
  readonly routes: RouteStore;
  readonly egress: Egress;
  readonly taping?: Taping | undefined;
  /** Replaces the providers of the configuration and the data folder. */
  readonly adapters: readonly ProviderAdapter[] | undefined;
  /** How many nodes ask the providers. */
  readonly workers?: (() => number) | undefined;
}

/**
 * Opens the accounts at providers that are switched on, and the choice among those of one provider. Changes of the providers that
 * the data folder describes are followed, so all results reflect the present state.
 */
export async function openProviders(config: Config, deps: ProvidersDeps, releases: Releases) {
  const { clock, log, routes, egress, taping, workers } = deps;
  const faults = createFaults();
  /** Opened keys stay open; accounts that are opened later read them again. */
  const newUnseal = () =>
    createUnseal(config, (lane, fault) => {
      log.error({ provider: lane }, fault);
      faults.note(lane, fault);
    });
  const fetching = { fetchPublic: egress.fetchMedia, ...taping?.providers };
  const making = { config, clock, log, unseal: newUnseal(), pictureBytes: pictureBytes(), ...fetching };
  const live = createLive(deps.adapters ?? (await createProviders(making)));
  releases.push(async () => {
    for (const adapter of new Set([...live.retired, ...live.adapters])) await adapter.stop?.();
  });
  const listeners: (() => void)[] = [];
  let own: { readonly takeAgain: () => Promise<void> } | undefined;
  if (deps.adapters === undefined) {
    const onTaken: OwnProvidersDeps["onTaken"] = ({ providers, problems }, isSame) => {
      live.problems = problems;
      if (isSame) return;
      live.replace(providers);
      for (const listener of listeners) listener();
    };
    own = await followOwnProviders(config, { ...making, onTaken }, releases);
  }
  const takeProviders = async (ids: readonly string[]): Promise<void> => {
    if (deps.adapters !== undefined) return;
    await makeAnew(ids, live, { ...making, unseal: newUnseal() });
    if (ids.length > 0) for (const listener of listeners) listener();
    await own?.takeAgain();
  };
  const { providers } = live;
  const isGone = (lane: LaneId) => isAccountGone(lane, live, config);
  const adapters = () => live.adapters;
  const ways = createWays({ clock, log, routes, random: systemRandom, adapters, isGone, workers });
  const needsOf: NeedsOf = (id) => {
    if (ways.routing.has(id)) return [];
    const own = live.own.find(({ definition }) => definition.id === id)?.definition;
    return own === undefined ? (providerNeeds(id) ?? [id]) : own.needs();
  };
  return {
    ...ways,
    ...{ providers, needsOf, takeProviders },
    /** The accounts of a provider that are switched on. */
    lanesOf: (id: ProviderId) => live.adapters.flatMap((each) => (each.id === id ? each.lane : [])),
    /** Those that the data folder describes, and what is wrong with files. */
    ownProviders: (): OwnProviders => {
      return { providers: live.own, problems: [...live.problems, ...faults.outside(live.providers)] };
    },
    /** The accounts that are switched on; a new list whenever they change. */
    adapters: () => live.adapters,
    /** Every provider there is, the built-in ones first. */
    providerIds: () => allIds(live.own),
    /** Calls `listener` whenever the providers change. */
    onProviders: (listener: () => void) => void listeners.push(listener),
  };
}

/** Whether a provider has accounts, and not this one. */
function isAccountGone(lane: LaneId, live: ReturnType<typeof createLive>, { accounts }: Config): boolean {
  const own = live.own.flatMap(({ given }) => given?.accounts ?? []);
  const all = [...live.adapters, ...own, ...Object.values(accounts).flat()];
  const ofProvider = all.filter((each) => providerOf(each.lane) === providerOf(lane));
  return ofProvider.length > 0 && ofProvider.every((each) => each.lane !== lane);
}

/** Opens the accounts of built-in providers with the present settings. A step under way ends with the account with which it began. */
async function makeAnew(
  ids: readonly string[],
  live: ReturnType<typeof createLive>,
  making: CreateDeps & { readonly config: Config },
): Promise<void> {
  const { providers, accounts } = making.config;
  const made = PROVIDERS.filter(({ id }) => ids.includes(id)).map((each) =>
    createAccounts(each, { values: providers[each.id] ?? {}, accounts: accounts[each.id] ?? [] }, making),
  );
  live.replaceBuiltIn(ids, (await Promise.all(made)).flat());
}

/** Follows the files that describe providers. The code that reads them is loaded when there is one. */
async function followOwnProviders(config: Config, deps: OwnProvidersDeps, releases: Releases) {
  let own: ReturnType<typeof createOwnProviders> | undefined;
  let taking = Promise.resolve();
  let last: readonly OwnFile[] = [];
  const take = async (files: readonly OwnFile[]) => {
    if (files.length === 0 && own === undefined) return;
    own ??= (await import("./own-providers.ts")).createOwnProviders(config, deps);
    await own.take(files);
  };
  const onChange = (files: readonly OwnFile[]) => {
    last = files;
    taking = taking
      .then(() => take(files))
      .catch((error: unknown) => deps.log.error({ err: error as Error }, "own providers could not be read"));
  };
  const { clock } = deps;
  const stop = watchOwnFiles(join(config.dataDir, OWN_PROVIDERS), { clock, maxBytes: FORM_BYTES, onChange });
  releases.push(() => own?.stop(), stop);
  await taking;
  return {
    /** Takes the same files again with other settings. */
    async takeAgain(): Promise<void> {
      onChange(last);
      await taking;
    },
  };
}

/** The ids of the built-in providers, and of those that the data folder describes besides. */
function allIds(own: readonly OwnProvider[]): ProviderId[] {
  return [...new Set([...PROVIDERS.map(({ id }) => id), ...own.map(({ definition }) => definition.id)])];
}

/** Why accounts have no key. */
function createFaults() {
  const faults = new Map<LaneId, string>();
  return {
    note: (lane: LaneId, fault: string) => void faults.set(lane, fault),
    /** Those of accounts that are off still. */
    outside(used: ReadonlyMap<LaneId, ProviderAdapter>): ProviderProblem[] {
      const off = [...faults].filter(([lane]) => !used.has(lane));
      return off.map(([lane, text]) => ({ provider: providerOf(lane), text }));
    },
  };
}

/** The adapters as they are now. */
function createLive(opened: readonly ProviderAdapter[]) {
  let builtIn = opened;
  const providers = new Map<LaneId, ProviderAdapter>();
  const live = {
    adapters: builtIn,
    /** Replaced adapters. Steps under way may still use them, so they are stopped at the end. */
    retired: [] as ProviderAdapter[],
    own: [] as readonly OwnProvider[],
    problems: [] as readonly ProviderProblem[],
    providers: providers as ReadonlyMap<LaneId, ProviderAdapter>,
    replaceBuiltIn(ids: readonly string[], made: readonly ProviderAdapter[]) {
      live.retired.push(...builtIn.filter(({ id }) => ids.includes(id)));
      const all = [...builtIn.filter(({ id }) => !ids.includes(id)), ...made];
      const order = PROVIDERS.map(({ id }) => id);
      builtIn = all.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
      live.replace(live.own);
    },
    /** Those of the data folder, which take the places of built-in ones of their names. */
    replace(own: readonly OwnProvider[]) {
      const replaced = new Set<ProviderId>(own.map(({ definition }) => definition.id));
      const kept = builtIn.filter(({ id }) => !replaced.has(id));
      const before = live.own.flatMap(({ adapters }) => adapters);
      live.retired.push(...before.filter((each) => !own.some(({ adapters }) => adapters.includes(each))));
      live.own = own;
      live.adapters = [...kept, ...own.flatMap(({ adapters }) => adapters)];
      providers.clear();
      for (const adapter of live.adapters) providers.set(adapter.lane, adapter);
    },
  };
  live.replace([]);
  return live;
}
