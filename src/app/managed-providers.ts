import type { AccountSettings } from "../config/accounts/accounts.ts";
import { accountProvider } from "../config/accounts/provider.ts";
import type { Config } from "../config/config.ts";
import type { ProviderConfig } from "../config/providers.ts";
import type { Act, Actor } from "../domain/access/actor.ts";
import { AppError } from "../domain/errors.ts";
import type { LaneId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { providerOf } from "../domain/lane.ts";
import { refusalOf, routeStates } from "../domain/model/availability.ts";
import type { Model } from "../domain/model/model.ts";
import type {
  AccountTest,
  KeyPlace,
  ManagedAccount,
  ManagedProvider,
  ManagedProviders,
  ManagedRoute,
} from "../domain/ports/managed-providers.ts";
import { type ProviderAdapter, ProviderError, type Tested } from "../domain/ports/provider.ts";
import type { RouteTrouble } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { suggest } from "../domain/suggest.ts";
import { baseOf } from "../providers/declared/connection.ts";
import { describeForm } from "../providers/declared/describe.ts";
import { BUILT_IN_FORMS } from "../providers/declared/forms.ts";
import type { LoadedForm } from "../providers/declared/loaded.ts";
import type { ProviderDefinition } from "../providers/definition.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { DeadlineExceeded, orAborted, startDeadline } from "../toolkit/deadline.ts";
import type { ProviderProblem } from "./provider-settings.ts";

/** A provider that the data folder describes. */
export interface OwnDefinition {
  readonly form: LoadedForm & { readonly file: string };
  readonly definition: ProviderDefinition;
  /** Absent where its settings cannot be used. */
  readonly given: Pick<ProviderConfig, "values" | "accounts"> | undefined;
}

export interface ManagedProvidersDeps {
  /** Who acts. */
  readonly actor: Actor;
  /** The text as it was read at the start. */
  readonly config: Pick<Config, "providers" | "accounts">;
  readonly clock: Clock;
  readonly own: () => Promise<readonly OwnDefinition[]>;
  /** What is wrong with providers and the files that describe them. */
  readonly problems: () => Promise<readonly ProviderProblem[]>;
  readonly models: () => Promise<readonly Model[]>;
  readonly troubles: () => Promise<readonly RouteTrouble[]>;
  /** An account's key was proved, so the account is no longer refused. */
  readonly onProved: (lane: LaneId, act: Act) => Promise<void>;
  /** Whether an account is in use, as far as this is known. */
  readonly isOn: (lane: LaneId) => boolean;
  /** The accounts of a provider that are switched on and can be used. */
  readonly adapters: (known: Pick<OwnDefinition, "definition" | "given">) => Promise<Usable>;
}

interface Usable {
  readonly adapters: readonly ProviderAdapter[];
  /** Why other accounts cannot be used, by their lanes. */
  readonly faults: ReadonlyMap<string, string>;
  readonly release: () => Promise<void>;
}

interface Known extends Pick<OwnDefinition, "definition" | "given"> {
  readonly form?: (Omit<LoadedForm, "compiled"> & { readonly file?: string }) | undefined;
}

/** Shows operators every provider, and tests its accounts. */
export function createManagedProviders(deps: ManagedProvidersDeps): ManagedProviders {
  async function find(id: string): Promise<Known> {
    const all = await knownProviders(deps);
    const found = all.find(({ definition }) => definition.id === id);
    if (found !== undefined) return found;
    const near = suggest(
      id,
      all.map(({ definition }) => String(definition.id)),
    );
    throw new AppError("not_found", { kind: "unknown", what: "provider", given: id, near });
  }
  return {
    async list() {
      const models = await deps.models();
      const all = await knownProviders(deps);
      const providers = all.map((known) => describe(known, deps, models));
      return { providers, problems: (await deps.problems()).map(({ text }) => text) };
    },
    async read(id) {
      const known = await find(id);
      const models = await deps.models();
      const file = known.form?.file;
      const problems = (await deps.problems()).filter(
        (each) => each.provider === id || (file !== undefined && each.file === file),
      );
      return {
        ...describe(known, deps, models),
        facts: factsOf(known),
        kinds: kindsOf(known),
        routes: routesOf(id, models, accountsOf(known, deps), {
          troubles: await deps.troubles(),
          now: deps.clock.now(),
        }),
        problems: problems.map(({ text }) => text),
      };
    },
    test: async (id, account) => testAccounts(deps, await find(id), account),
  };
}

/** Providers of the data folder replace built-in ones with the same name. */
async function knownProviders({ own, config }: ManagedProvidersDeps): Promise<Known[]> {
  const others = await own();
  const ownOf = ({ id }: ProviderDefinition) => others.find(({ definition }) => definition.id === id);
  const isBuiltIn = ({ definition }: OwnDefinition) => PROVIDERS.some(({ id }) => id === definition.id);
  const builtIn = (definition: ProviderDefinition): Known => {
    const { [definition.id]: values = {} } = config.providers;
    const given = { values, accounts: config.accounts[definition.id] ?? [] };
    return { definition, given, form: BUILT_IN_FORMS[definition.id] };
  };
  return [
    ...PROVIDERS.map((definition) => ownOf(definition) ?? builtIn(definition)),
    ...others.filter((each) => !isBuiltIn(each)),
  ];
}

function describe(known: Known, deps: ManagedProvidersDeps, models: readonly Model[]): ManagedProvider {
  const { definition, form, given } = known;
  const { id, title } = definition;
  const accounts = accountsOf(known, deps);
  return {
    ...{ id, title, accounts },
    form: form && { hash: form.hash, file: form.file, text: form.text },
    needs: accounts.length > 0 ? [] : definition.needs(given?.values),
    models: models.filter(({ routes }) => routes.some((each) => each.provider === id)).map((each) => each.id),
  };
}

function accountsOf({ form, given }: Known, { isOn }: ManagedProvidersDeps): ManagedAccount[] {
  const { values = {}, accounts = [] } = given ?? {};
  const inUse = accounts.filter(({ lane }) => isOn(lane));
  return inUse.map((account) => {
    // Settings of these names hold texts and numbers.
    const region = (account.region ?? values.region) as string | undefined;
    const baseUrl = (account.baseUrl ?? values.baseUrl) as string | undefined;
    const concurrency = (account.concurrency ?? values.concurrency) as number | undefined;
    return {
      ...{ name: account.name, lane: account.lane, keyFrom: keyPlaceOf(account), region, concurrency },
      baseUrl: form === undefined ? baseUrl : baseOf(form.form, { region, baseUrl }),
    };
  });
}

function keyPlaceOf({ secrets }: Pick<AccountSettings, "secrets">): KeyPlace {
  if (secrets === undefined) return "kept";
  return Object.keys(secrets).length === 0 ? "none" : "settings";
}

/** An account may need no key. */
function kindsOf({ definition }: Known): readonly (readonly string[])[] {
  const { kinds } = accountProvider(definition, definition.settings({ cores: 1 }));
  return kinds.filter((kind) => kind.length > 0);
}

function factsOf({ definition, form }: Known): JsonObject {
  if (form !== undefined) return describeForm(form.form);
  const variables = definition.needs();
  return { auth: variables.length === 0 ? [{ kind: "none", variables }] : [{ kind: "header", variables }] };
}

function routesOf(
  id: string,
  models: readonly Model[],
  accounts: readonly ManagedAccount[],
  { troubles, now }: { troubles: readonly RouteTrouble[]; now: number },
): ManagedRoute[] {
  const known = troubles.filter(({ lane }) => providerOf(lane) === id).map(({ lane }) => lane);
  const lanes = accounts.length > 0 ? accounts.map(({ lane }) => lane) : known;
  const lanesOf = () => [...new Set(lanes)];
  return models.flatMap((model) =>
    routeStates(model, () => [], { troubles, lanesOf, now })
      .filter(({ provider }) => provider === id)
      .map(({ upstreamModel, ...route }) => {
        return { model: model.id, upstreamModel, refused: refusalOf(route), troubles: route.troubles };
      }),
  );
}

const TEST_MS = 10_000;

async function testAccounts(
  deps: ManagedProvidersDeps,
  known: Known,
  wanted: string | undefined,
): Promise<AccountTest[]> {
  const { definition } = known;
  const all = accountsOf(known, deps);
  const accounts = all.filter(({ name }) => wanted === undefined || name === wanted);
  if (wanted !== undefined && accounts.length === 0) {
    const near = suggest(
      wanted,
      all.map(({ name }) => name),
    );
    throw new AppError("not_found", { kind: "unknown", what: "account", given: wanted, near });
  }
  if (accounts.length === 0) return [];
  const { adapters, faults, release } = await deps.adapters(known);
  try {
    return await Promise.all(
      accounts.map(async ({ name, lane }) => {
        const startedAt = deps.clock.elapsed();
        const adapter = adapters.find((each) => each.lane === lane);
        const tested =
          adapter === undefined
            ? ({ kind: "failed", detail: faults.get(lane) ?? "its key is not at hand" } as const)
            : await testOne(deps, adapter);
        const tookMs = Math.round(deps.clock.elapsed() - startedAt);
        if (tested.kind === "ok") await deps.onProved(lane, { actor: deps.actor, at: deps.clock.now() });
        const lacks =
          tested.kind === "ok" && adapter !== undefined ? await lacksOf(deps, adapter, tookMs) : undefined;
        return { provider: definition.id, account: name, lane, tookMs, tested, lacks };
      }),
    );
  } finally {
    await release();
  }
}

/** What an account lacks for the models that have a route to it, if it answers in time. */
async function lacksOf(
  { clock, models }: ManagedProvidersDeps,
  { id, lane, lacks }: ProviderAdapter,
  tookMs: number,
): Promise<readonly string[] | undefined> {
  if (lacks === undefined) return undefined;
  const limit = { delayMs: Math.max(0, TEST_MS - tookMs), what: "it did not say what it lacks" };
  const deadline = startDeadline(clock, new AbortController().signal, limit);
  const lines: string[] = [];
  try {
    for (const model of await models()) {
      const routes = model.routes.filter(
        (route) => route.provider === id && (route.account ?? lane) === lane,
      );
      for (const route of routes)
        for (const line of await orAborted(lacks(route, deadline.signal), deadline.signal))
          lines.push(`${model.id}: ${line}`);
    }
  } catch (error) {
    if (!(error instanceof DeadlineExceeded) && !(error instanceof ProviderError)) throw error;
    lines.push(error.message);
  } finally {
    deadline.end();
  }
  return lines;
}

async function testOne({ clock }: ManagedProvidersDeps, adapter: ProviderAdapter): Promise<Tested> {
  if (adapter.test === undefined)
    return { kind: "untested", detail: "it has no call that proves a key and makes nothing" };
  const limit = { delayMs: TEST_MS, what: "the test did not end" };
  const deadline = startDeadline(clock, new AbortController().signal, limit);
  try {
    return await orAborted(adapter.test(deadline.signal), deadline.signal);
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    return { kind: "unreachable", detail: `no answer within ${TEST_MS / 1000} s` };
  } finally {
    deadline.end();
  }
}
