import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";

export type ProviderInFull = Schemas["ManagedProviderInFull"];
export type ProviderAccount = Schemas["ProviderAccount"];
export type Way = Schemas["ManagedRoute"];
export type Tested = Schemas["ProviderTest"];

export interface Known {
  readonly provider: ProviderInFull;
  /** At the accounts that are switched on. */
  readonly ways: readonly Way[];
}

/** @throws ApiProblem */
export async function readProvider(id: string, signal?: AbortSignal): Promise<Known> {
  const [provider, { routes }] = await Promise.all([
    ask("GET /admin/v1/providers/{id}", { path: { id }, query: {} }, { signal }),
    ask("GET /admin/v1/routes", {}, { signal }),
  ]);
  return { provider, ways: routes.filter((way) => way.provider === id) };
}

/** Asks the accounts of a provider, or one, for what costs nothing. Takes 10 s at most. @throws ApiProblem */
export async function testAccounts(id: string, account?: string): Promise<readonly Tested[]> {
  const body = account === undefined ? {} : { account };
  return (await ask("POST /admin/v1/providers/{id}/test", { path: { id }, body })).accounts;
}

/** An account, or a model there, that tasks are kept from. */
export interface Target {
  readonly provider: string;
  readonly account?: string;
  readonly upstream_model?: string;
}

/** What the reader is about to do, in a dialog. */
export type Asked =
  | { readonly do: "add"; readonly account?: string }
  | { readonly do: "remove"; readonly account: string }
  | { readonly do: "block" | "allow"; readonly target: Target };

export function targetText({ provider, account, upstream_model: model }: Target): string {
  const place = account === undefined || account === "default" ? provider : `${provider}/${account}`;
  return model === undefined ? place : `${model} at ${place}`;
}

/** Whether no way of an account gets tasks: then it is the account that has to be allowed. */
export function isShut(ways: readonly Way[]): boolean {
  return ways.length > 0 && ways.every(({ state }) => state !== "closed");
}

/** How an account does as a whole: the state that all its ways have; `partly` where they differ. */
export function stateOf(ways: readonly Way[]): string {
  const [first = "closed", ...others] = new Set(ways.map(({ state }) => state));
  return others.length === 0 ? first : "partly";
}

/** What the form of a provider says, as far as a page shows it. Later versions add to it. */
export function factsOf({ facts }: Pick<ProviderInFull, "facts">) {
  const { auth, regions, base } = facts;
  const ways = Array.isArray(auth) ? (auth as readonly { readonly variables?: unknown }[]) : [];
  const variables = ways.flatMap((each) => (Array.isArray(each.variables) ? each.variables.map(String) : []));
  return {
    base: typeof base === "string" ? base : undefined,
    regions: typeof regions === "object" && regions !== null ? Object.keys(regions) : [],
    variables: [...new Set(variables)],
  };
}
