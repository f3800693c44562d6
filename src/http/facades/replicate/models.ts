import type { Principal } from "../../../domain/access/account.ts";
import { AppError, mustBe } from "../../../domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { publishedSchema } from "../../../domain/model/model-form.ts";
import { listModels } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { OWNER } from "../models.ts";
import { BASE } from "./manners.ts";
import { COG_VERSION } from "./schemas.ts";
import { namedModel, type VersionDeps, versionOf } from "./versions.ts";
import { takesMany } from "./written.ts";

export interface ModelPageDeps extends VersionDeps {
  /** When this service began to run, in epoch milliseconds: it knows no earlier date of a model. */
  readonly startedAt: number;
}

const PAGE = 25;

/** One page of something that is listed in full elsewhere. `next` is an address, as clients follow it. */
export function pageOf(
  results: readonly Json[],
  next: string | null = null,
  previous: string | null = null,
): JsonObject {
  return { previous, next, results };
}

/** A page of the models that the caller's key may use. The cursor is the id of the model before it. */
export function modelPage(deps: ModelPageDeps, { principal, query, origin }: KeyedExchange): JsonObject {
  const models = listModels(deps, principal);
  const cursor = query().get("cursor");
  const from = cursor === null ? 0 : models.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== null && from === 0) throw mustBe("cursor", { form: "cursor" }, cursor);
  const page = models.slice(from, from + PAGE);
  const address = (after: Model | undefined) =>
    after === undefined
      ? `${origin}${BASE}/models`
      : `${origin}${BASE}/models?cursor=${encodeURIComponent(after.id)}`;
  const next = from + PAGE < models.length ? address(page.at(-1)) : null;
  const previous = from === 0 ? null : address(models[from - PAGE - 1]);
  return pageOf(
    page.map((model) => presentModel(deps, origin, model)),
    next,
    previous,
  );
}

/** The model that a path names, under the name by which it was asked for. */
export function oneModel(deps: ModelPageDeps, { principal, origin, param }: KeyedExchange): JsonObject {
  const [owner, name] = [param("owner"), param("name")];
  const { model } = namedModel(deps, principal, `${owner}/${name}`);
  return presentModel(deps, origin, model, { owner, name });
}

/** A model as that API has it. */
export function presentModel(
  deps: ModelPageDeps,
  origin: string,
  model: Model,
  { owner, name }: { readonly owner: string; readonly name: string } = { owner: OWNER, name: model.id },
): JsonObject {
  return {
    url: `${origin}/console/models/${model.id}`,
    ...{ owner, name },
    description: model.description,
    visibility: "public",
    is_official: true,
    run_count: 0,
    ...{ github_url: null, paper_url: null, license_url: null, cover_image_url: null, default_example: null },
    latest_version: presentVersion(deps, model),
  };
}

/** The versions of a model, which has one: as it is defined now. */
export function versionPage(deps: ModelPageDeps, { principal, param }: KeyedExchange): JsonObject {
  const { model } = namedModel(deps, principal, `${param("owner")}/${param("name")}`);
  return pageOf([presentVersion(deps, model)]);
}

/** @throws AppError `not_found` for another version */
export function oneVersion(deps: ModelPageDeps, { principal, param }: KeyedExchange): JsonObject {
  const { model } = namedModel(deps, principal, `${param("owner")}/${param("name")}`);
  if (versionOf(deps, model) !== param("version"))
    throw new AppError("not_found", { kind: "version_unknown", field: "version" });
  return presentVersion(deps, model);
}

function presentVersion(deps: ModelPageDeps, model: Model): JsonObject {
  return {
    id: versionOf(deps, model),
    created_at: new Date(deps.startedAt).toISOString(),
    cog_version: COG_VERSION,
    openapi_schema: schemaOf(model),
  };
}

const schemas = new WeakMap<Model, JsonObject>();

/** Fields of a create that are no inputs there, because a prediction gives them elsewhere or not at all. */
const NOT_INPUTS = new Set(["model", "callback_url"]);

/** What clients read a model's inputs and its output from. */
function schemaOf(model: Model): JsonObject {
  const known = schemas.get(model);
  if (known !== undefined) return known;
  const made: JsonObject = {
    openapi: "3.1.0",
    info: { title: model.name, description: model.description, version: "1" },
    paths: {},
    components: { schemas: { Input: inputSchema(model), Output: outputSchema(model) } },
  };
  schemas.set(model, made);
  return made;
}

function inputSchema(model: Model): JsonObject {
  const { properties, required } = publishedSchema(model);
  const entries = isJsonObject(properties)
    ? Object.entries(properties).filter(([name]) => !NOT_INPUTS.has(name))
    : [];
  const inputs = entries.map(([name, property], i) => {
    const described = isJsonObject(property) ? property : {};
    return [name, { title: titleOf(name), ...described, "x-order": i }] as const;
  });
  return {
    type: "object",
    title: "Input",
    required: Array.isArray(required) ? required.filter((name) => !NOT_INPUTS.has(String(name))) : [],
    properties: Object.fromEntries(inputs),
  };
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

const ADDRESS = { type: "string", format: "uri" } as const;

function outputSchema(model: Model): JsonObject {
  const many = { type: "array", items: ADDRESS } as const;
  if (!takesMany(model)) return { title: "Output", ...ADDRESS };
  return model.kind === "image" ? { title: "Output", ...many } : { title: "Output", anyOf: [ADDRESS, many] };
}

interface Collection {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
}

/** The modes of the models that the key may use: each is a collection. */
function collectionsOf(deps: ModelPageDeps, principal: Principal): Map<string, readonly Model[]> {
  const models = listModels(deps, principal);
  const slugs = [...new Set(models.flatMap(({ modes }) => modes.map(({ id }) => id)))].sort();
  return new Map(
    slugs.map((slug) => [slug, models.filter(({ modes }) => modes.some(({ id }) => id === slug))]),
  );
}

const collection = (slug: string, models: readonly Model[]): Collection => ({
  name: titleOf(slug.replaceAll("-", "_")),
  slug,
  description: `What does ${slug} here: ${models.map(({ name }) => name).join(", ")}.`,
});

export function collectionPage(deps: ModelPageDeps, { principal }: KeyedExchange): JsonObject {
  const found = [...collectionsOf(deps, principal)];
  return pageOf(found.map(([slug, models]) => ({ ...collection(slug, models) })));
}

/** @throws AppError `not_found` */
export function oneCollection(
  deps: ModelPageDeps,
  { principal, origin, param, path }: KeyedExchange,
): JsonObject {
  const slug = param("slug");
  const models = collectionsOf(deps, principal).get(slug);
  if (models === undefined) throw new AppError("not_found", { kind: "unknown_path", path });
  return { ...collection(slug, models), models: models.map((model) => presentModel(deps, origin, model)) };
}
