import { createCatalog } from "../catalog/catalog.ts";
import type { Config } from "../config/config.ts";
import type { ApiKey } from "../domain/access/account.ts";
import { AppError } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import { formatAmount } from "../domain/money/money.ts";
import type { ImportMark } from "../domain/ports/import-store.ts";
import type { Holdings } from "../moving/holdings.ts";
import { outlivedKeys } from "../moving/outlived.ts";
import { NOBODYS, type PlanItem, type PlannedOwners, planOwners } from "../moving/plan.ts";
import { PROVIDERS } from "../providers/registry.ts";
import { createAddresses } from "../runtime/address-ranges.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { createSecrets } from "../runtime/secrets.ts";
import { checkKeyTerms } from "../service/key-terms.ts";
import { readAll } from "../service/lists.ts";
import { findModel } from "../service/manage-models.ts";
import { createManagePrices } from "../service/manage-prices.ts";
import { defaultAccount, type ManageAccountDeps } from "../service/management.ts";
import type { Store } from "../store/open.ts";
import { configuredPricesOf } from "./configured-prices.ts";
import { sealOf } from "./data-folder.ts";
import { bringOwners, type KeepSecrets } from "./import-owners.ts";
import { keepProviderKeys, type PlannedProviderKeys, planProviderKeys } from "./import-provider-keys.ts";
import { type ImportSource, readSource } from "./import-sources.ts";
import { localActor } from "./local-actor.ts";
import { openLocalStore } from "./local-store.ts";
import { readOwnModels } from "./own-models.ts";

export interface ImportRequest {
  readonly source: ImportSource;
  /** The operator's name for the gateway; it must be the same each time. */
  readonly name: string;
  /** Their names of models, and the models here that they stand for. */
  readonly mapped: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The plan of an import from another gateway, and a function that applies it. */
export interface ImportPlan {
  readonly items: readonly PlanItem[];
  /** How many keys get a new secret. */
  readonly newSecrets: number;
  /** Whether a key with this secret was here when the plan was made. */
  readonly isHere: (secret: string) => boolean;
  /**
   * Does what the plan says: accounts and keys in one transaction, then providers' keys, then prices. Repeating the command after an
   * interruption does the rest.
   *
   * @param keep receives the new secrets before anything is done; what it gives is called if nothing was imported because of a clash
   * @throws AppError `invalid_request` if something was added meanwhile that clashes; then no account and no key is imported
   */
  apply(keep: KeepSecrets): Promise<void>;
}

/** Reads another gateway and plans what to import into a data folder. Nothing changes until it is applied. @throws UnreadableSource */
export async function openImport(
  config: Config,
  request: ImportRequest,
): Promise<ImportPlan & { stop(): Promise<void> }> {
  const clock = createSystemClock();
  const ids = createIds(clock);
  const opened = await openLocalStore(config, { ids, seal: sealOf(config) });
  const store = await opened.all();
  const deps: ManageAccountDeps = {
    ...{
      actor: localActor(),
      accounts: store.accounts,
      sessions: store.sessions,
      usage: store.usage,
      charges: store.usage,
    },
    ...{ clock, ids, addresses: createAddresses(), secrets: createSecrets() },
    checks: config.moderation?.checks.map(({ name }) => name) ?? [],
  };
  try {
    return { ...(await planned(config, request, { store, deps })), stop: opened.stop };
  } catch (error) {
    await opened.stop();
    throw error;
  }
}

async function planned(
  config: Config,
  { source, name, mapped, env }: ImportRequest,
  { store, deps }: { readonly store: Store; readonly deps: ManageAccountDeps },
): Promise<ImportPlan> {
  const ids = PROVIDERS.map(({ id }) => id);
  const { models } = readOwnModels(config, ids);
  const catalog = createCatalog({ models, providers: ids });
  const chosen = new Map([...mapped].map(([theirs, ours]) => [theirs, findModel(catalog, ours).id]));
  const now = deps.clock.now();
  const held = await readSource(source, { now, hash: deps.secrets.hash, models, mapped: chosen, env });
  const owner = await store.accounts.account("default");
  const keys = await readAll(store.accounts.keys);
  const here = {
    marks: await store.imports.marks(name),
    accounts: await readAll(store.accounts.accounts),
    keys,
  };
  const owners = planOwners(held, here, {
    source: name,
    nobodys: owner?.id ?? "",
    problemOf: ({ terms }) => problemIn(() => void checkKeyTerms(terms, { ...deps, now })),
  });
  const outlived = outlivedKeys(held, here);
  const prices = createManagePrices({
    ...{ catalog, prices: store.prices, clock: deps.clock, actor: deps.actor },
    configuredPrices: configuredPricesOf(config, catalog).prices,
  });
  const plannedPrices = await planPrices(held, { store, catalog });
  const providerKeys = await planProviderKeys(held.providerKeys, config);
  return {
    items: [
      ...itemsOf(owners, providerKeys),
      ...plannedPrices.items,
      ...aliasItems(held, owners, { before: broughtKeys(keys, here.marks), ofAll: config.aliases }),
      ...outlived.items,
      ...leftItems(outlived.left),
    ],
    newSecrets: owners.keys.filter(({ held: key }) => key.hash === undefined).length,
    isHere: (secret) => keys.some(({ hash }) => hash === deps.secrets.hash(secret)),
    async apply(keep) {
      const fallback = owners.keys.some(({ held: { account = NOBODYS } }) => account === NOBODYS)
        ? (await defaultAccount(deps)).id
        : undefined;
      await bringOwners(owners, { name, deps, imports: store.imports, fallback, keep });
      await keepProviderKeys(providerKeys.keys, config);
      for (const { model, rule } of plannedPrices.prices)
        await prices.set(model, { rule, reason: `from ${name}` });
    },
  };
}

/** @returns the message of a refusal */
function problemIn(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

const itemsOf = (owners: PlannedOwners, keys: PlannedProviderKeys) => [...owners.items, ...keys.items];

/** A price that an operator set here stays. */
async function planPrices(
  { prices: held }: Holdings,
  { store, catalog }: { readonly store: Store; readonly catalog: ReturnType<typeof createCatalog> },
) {
  const set = new Set((await store.prices.overrides()).map(({ model }) => model));
  const items: PlanItem[] = [];
  const prices: { readonly model: ModelId; readonly rule: unknown }[] = [];
  for (const { model: id, amount, from } of held) {
    const item = (action: PlanItem["action"], note: string) =>
      void items.push({ kind: "price", from, to: id, action, note });
    const model = catalog.all().find((each) => each.id === id);
    const rule = { lines: [{ sku: "output", unit: "output", amount: formatAmount(amount) }] };
    if (set.has(id)) item("here", "a price is set here; it stays");
    else if (model?.kind === "video") item("leave", ofVideo(model.id, formatAmount(amount)));
    else if (model === undefined || !catalog.readPrice(model, rule).ok)
      item("leave", "the model cannot be priced by its outputs");
    else {
      prices.push({ model: id, rule });
      item("bring", `${formatAmount(amount)} USD for each output, whatever its size`);
    }
  }
  return { items, prices };
}

/** Most kinds of channels multiply a price by the seconds of a video, and others do not. */
const ofVideo = (model: ModelId, amount: string) =>
  `it is of a second there, or of a whole video, as its channel has it: svc pricing set ${model} --per-second ${amount}, or --per-output`;

function broughtKeys(keys: readonly ApiKey[], marks: readonly ImportMark[]): ApiKey[] {
  const brought = new Set(marks.map(({ target }) => target));
  return keys.filter(({ id, revokedAt }) => brought.has(id) && revokedAt === undefined);
}

/** @param here.before the keys that came before and are valid @param here.ofAll the aliases of the settings */
function aliasItems(
  { aliases, keys }: Holdings,
  owners: PlannedOwners,
  { before, ofAll }: { readonly before: readonly ApiKey[]; readonly ofAll: Config["aliases"] },
): PlanItem[] {
  const comes = owners.keys.length > 0;
  const all = "put it below aliases in svc.yaml";
  return Object.entries(aliases).map(([from, to]): PlanItem => {
    const item = { kind: "alias", from, to } as const;
    if (ofAll[from] === to)
      return { ...item, action: "here", note: "it is among the aliases of the settings" };
    if (comes) return { ...item, action: "bring", note: `for the keys that come; ${all} to have it for all` };
    if (keys.length === 0)
      return { ...item, action: "leave", note: `no key comes that could have it; ${all}` };
    // Some keys have none, because they may not use its model.
    const isKnown = before.some(({ policy }) => policy.aliases?.[from] === to);
    return isKnown
      ? { ...item, action: "here", note: "on the keys that were brought" }
      : { ...item, action: "leave", note: `it is newer than the keys that were brought; ${all}` };
  });
}

function leftItems(left: Holdings["left"]): PlanItem[] {
  return left.map(({ kind, from, why }) => ({ kind, from, action: "leave", note: why }));
}
