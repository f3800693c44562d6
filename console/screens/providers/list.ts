import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Tone } from "../../parts/status.tsx";

type Provider = Schemas["ManagedProvider"];
type Way = Schemas["ManagedRoute"];
type Overview = Schemas["Overview"];

/** Which providers are shown; the address has the same names. */
export interface Filters {
  readonly find: string;
  readonly state: string;
}

/** A provider, with how its accounts do. */
export interface ListedProvider {
  readonly provider: Provider;
  readonly ways: readonly Way[];
  /** Tasks that were sent to its accounts and have not ended, and how many these may be. */
  readonly underWay: number;
  readonly limit: number;
  /** Ends of the last hour. */
  readonly completed: number;
  readonly failed: number;
}

export interface Providers {
  readonly providers: readonly ListedProvider[];
  /** What is wrong with files, settings and kept keys, a line each. */
  readonly problems: readonly string[];
}

/** Every provider, switched on or not. @throws ApiProblem */
export async function readProviders(signal: AbortSignal): Promise<Providers> {
  const [{ providers, problems }, { routes }, overview] = await Promise.all([
    ask("GET /admin/v1/providers", {}, { signal }),
    ask("GET /admin/v1/routes", {}, { signal }),
    ask("GET /admin/v1/overview", {}, { signal }),
  ]);
  return { providers: providers.map((provider) => listed(provider, routes, overview)), problems };
}

/** @param routes of all providers */
function listed(provider: Provider, routes: readonly Way[], overview: Overview): ListedProvider {
  const isOurs = (name: string) => provider.accounts.some(({ lane }) => lane === name);
  const lanes = overview.lanes.filter(({ lane }) => isOurs(lane));
  const ended = overview.providers.filter((each) => isOurs(each.provider));
  return {
    provider,
    ways: routes.filter((way) => way.provider === provider.id),
    underWay: sum(lanes.map(({ under_way }) => under_way)),
    limit: sum(lanes.map(({ limit }) => limit ?? 0)),
    completed: sum(ended.map(({ completed }) => completed)),
    failed: sum(ended.map(({ failed }) => failed)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** How a provider does, in a word. */
export function wordOf({ provider, ways }: Pick<ListedProvider, "provider" | "ways">): {
  readonly word: string;
  readonly tone: Tone;
} {
  if (!provider.available) return { word: "off", tone: "idle" };
  const shut = ways.filter(({ state }) => state !== "closed");
  if (shut.length === 0) return { word: "on", tone: "good" };
  if (shut.length < ways.length) return { word: "partly", tone: "warn" };
  const [first = ""] = shut.map(({ state }) => state);
  const isSame = shut.every(({ state }) => state === first);
  return { word: isSame ? first : "no way open", tone: first === "blocked" && isSame ? "warn" : "bad" };
}

/** Those that fit. */
export function fitting(all: readonly ListedProvider[], { find, state }: Filters): ListedProvider[] {
  const wanted = find.trim().toLowerCase();
  return all.filter((each) => {
    const { id, title, needs } = each.provider;
    const isFound = [id, title, ...needs].some((text) => text.toLowerCase().includes(wanted));
    return isFound && (state === "" || state === stateOf(each));
  });
}

function stateOf(each: ListedProvider): string {
  if (!each.provider.available) return "off";
  return wordOf(each).word === "on" ? "on" : "trouble";
}
