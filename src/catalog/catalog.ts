import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Model, Route } from "../domain/model/model.ts";
import type { Catalog, PriceCatalog } from "../domain/ports/catalog.ts";
import { builtInModelTexts } from "./built-in.ts" with { type: "macro" };
import { readOperatorPrice, unpricedRequest } from "./operator-price.ts";
import { createPriceChecker } from "./schema-check.ts";
import { createValidator } from "./validate.ts";

/** A provider that makes models of the catalogue by their own ids. */
export interface Relay {
  readonly provider: ProviderId;
  makes(id: ModelId): boolean;
}

export interface CatalogOptions {
  /** Models none of whose providers are enabled are not offered. */
  readonly isEnabled?: (provider: ProviderId) => boolean;
  /** Providers that can be given files. */
  readonly takesFiles?: (provider: ProviderId) => boolean;
  /** Every provider, in the order in which their models are listed; any others come last. */
  readonly providers?: readonly ProviderId[];
  /** Providers that make models which have no route to them. They come last. */
  readonly relays?: () => readonly Relay[];
  /** Replaces the built-in models. */
  readonly models?: readonly Model[];
}

/** A catalogue whose models can be replaced while it is in use. All its answers change at once. */
export interface LiveCatalog extends Catalog, PriceCatalog {
  /** @throws Error when two models have one id, and changes nothing then */
  replace(models: readonly Model[]): void;
  /** Compiles the schemas of the models offered, ahead of their first requests. */
  warm(): Promise<void>;
}

/**
 * The models: by provider, then images before videos, then by id. Compiles schemas when first used, or before, with `warm`.
 *
 * @throws Error when two models have one id
 */
export function createCatalog(options: CatalogOptions = {}): LiveCatalog {
  const { isEnabled = () => true, takesFiles = () => true, models = builtInModels() } = options;
  const priceChecker = createPriceChecker();
  // Which providers can get files, and which make what, may change between two reads of the same models.
  const read = (given: readonly Model[]) => {
    const relays = options.relays?.() ?? [];
    const routed = relays.length === 0 ? given : given.map((model) => withRelays(model, relays));
    return contentOf(
      routed.map((model) => withFiles(model, takesFiles)),
      options,
    );
  };
  let content = read(models);
  return {
    models: () => content.offered,
    find: (id) => content.byId.get(id),
    routes: (model) => model.routes.filter((route) => isEnabled(route.provider)),
    validate: validator.validate,
    all: () => content.all,
    readPrice: (...given) => readOperatorPrice(priceChecker, ...given),
    unpricedRequest: (model, rule) => unpricedRequest(validator, model, rule),
    replace(models) {
      const before = content.all;
      content = read(models);
      const stays = new Set(content.all.map(({ schema }) => schema));
      for (const model of before) if (!stays.has(model.schema)) validator.forget(model);
    },
    async warm() {
      for (const model of content.offered) {
        validator.prepare(model);
        // Each takes milliseconds, and requests come first.
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    },
  };
}

interface Content {
  readonly all: readonly Model[];
  readonly offered: readonly Model[];
  /** Those offered. */
  readonly byId: ReadonlyMap<string, Model>;
}

function contentOf(
  models: readonly Model[],
  { isEnabled = () => true, providers = [] }: CatalogOptions,
): Content {
  const all = inOrder(models, providers);
  const ids = new Set<string>();
  for (const { id } of all) {
    if (ids.has(id)) throw new Error(`Two models have the id "${id}".`);
    ids.add(id);
  }
  const offered = all.filter((model) => model.routes.some((route) => isEnabled(route.provider)));
  return { all, offered, byId: new Map(offered.map((model) => [model.id, model])) };
}

/** The models whose manifests are in `models/`. A test validates them, so nothing is checked at start. */
export function builtInModels(): Model[] {
  const { models, schemas } = builtInModelTexts();
  // What the macro wrote are models without their schemas.
  return (JSON.parse(models) as Omit<Model, "schema">[]).map((model, i) => withSchema(model, schemas[i]));
}

/** The built-in schemas that were read. There is one of each in a process, so that it is compiled once. */
const schemasRead = new Map<ModelId, Model["schema"]>();
const idsOfSchemas = new WeakMap<object, ModelId>();
const validator = createValidator(compiledCheck);

function withSchema(model: Omit<Model, "schema">, text = "true"): Model {
  return {
    ...model,
    get schema() {
      const { id } = model;
      const schema = schemasRead.get(id) ?? (JSON.parse(text) as Model["schema"]);
      schemasRead.set(id, schema);
      idsOfSchemas.set(schema, id);
      return schema;
    },
  };
}

/** The compiled check of a built-in model's schema, where the build has made one. They are two megabytes: read at first use. */
function compiledCheck(schema: object): string | undefined {
  const id = idsOfSchemas.get(schema);
  if (id === undefined) return undefined;
  const { compiledChecks } = require("./compiled-checks.ts") as typeof import("./compiled-checks.ts");
  return compiledChecks[id];
}

function inOrder(models: readonly Model[], providers: readonly ProviderId[]): readonly Model[] {
  const ranks = new Map(providers.map((provider, rank) => [provider, rank]));
  const ranked = models.map((model) => {
    const [route] = model.routes;
    return { model, rank: (route && ranks.get(route.provider)) ?? providers.length };
  });
  ranked.sort(
    (a, b) => a.rank - b.rank || compare(a.model.kind, b.model.kind) || compare(a.model.id, b.model.id),
  );
  return ranked.map(({ model }) => model);
}

/** A model with routes to the providers that also make it. Its schema is still read only when it is needed. */
function withRelays(model: Model, relays: readonly Relay[]): Model {
  const has = (id: ProviderId) => model.routes.some(({ provider }) => provider === id);
  const more = relays.filter(({ provider, makes }) => !has(provider) && makes(model.id));
  if (more.length === 0) return model;
  const added = more.map(({ provider }): Route => ({ provider, upstreamModel: model.id }));
  const routes = { value: [...model.routes, ...added], enumerable: true };
  // They are the model's own, but for the routes.
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(model), routes }) as Model;
}

/** A model whose routes say whether they can be given files. */
function withFiles(model: Model, takesFiles: (provider: ProviderId) => boolean): Model {
  if (model.routes.every(({ provider }) => takesFiles(provider))) return model;
  const routes = model.routes.map((route) =>
    takesFiles(route.provider) ? route : { ...route, takesNoFiles: true as const },
  );
  return { ...model, routes };
}

/** By code points, whatever the language of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
