import type { Principal } from "../../../domain/access/account.ts";
import { AppError, mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { listAliases, listModels, type ModelDeps } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { askedModel } from "../models.ts";
import { FILM_ROLES } from "./films.ts";
import { PROVIDER } from "./manners.ts";

/** What some clients insist that names of models for pictures begin with. */
const PREFIX = "gemini-";

export interface NamedModel {
  readonly model: Model;
  /** As the caller has it. */
  readonly name: string;
}

/**
 * The model that the path names: by an alias, by its id, by that API's own name for it, or by its id after `gemini-`.
 * @throws AppError `model_not_found`, `permission_denied`
 */
export function askedFor(
  deps: ModelDeps,
  { principal, param }: Pick<KeyedExchange, "principal" | "param">,
): NamedModel {
  const name = param("model");
  return { name, model: modelNamed(deps, principal, name) };
}

/** The same by its name alone. @throws AppError as `askedFor` */
export function modelNamed(deps: ModelDeps, principal: Principal, name: string): Model {
  try {
    return askedModel(deps, principal, name, { provider: PROVIDER }).model;
  } catch (error) {
    const bare = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
    const isUnknown = error instanceof AppError && error.facts.kind === "model_unknown";
    if (!isUnknown || bare === undefined || deps.catalog.find(bare) === undefined) throw asMissing(error);
    return askedModel(deps, principal, bare, {}).model;
  }
}

/** As everything but our own API has it. */
function asMissing(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "model_not_available") return error;
  return new AppError("model_not_found", error.facts, error.details, error);
}

/** A model as that API tells of it. @param name by which the caller may ask for it */
export function presentModel(name: string, model: Model): JsonObject {
  return {
    name: `models/${name}`,
    baseModelId: model.id,
    version: model.price.version,
    displayName: model.name,
    description: model.description,
    supportedGenerationMethods: methodsOf(model),
  };
}

/** What a model can be asked for in that API: nothing, where it needs media that the API has no place for. */
function methodsOf({ kind, modes, mediaFields }: Model): string[] {
  const isReached = (role: string) =>
    kind === "image"
      ? mediaFields.some((field) => field.role === role && field.media === "image")
      : FILM_ROLES.some((each) => each === role);
  if (!modes.some(({ requires }) => requires.every(isReached))) return [];
  return kind === "image" ? ["generateContent", "streamGenerateContent", "predict"] : ["predictLongRunning"];
}

const DEFAULT_PAGE = 50;
const MAX_PAGE = 1000;

/** A page of the caller's models and aliases. The token of the next page is the name that it begins after. */
export function listPage(deps: ModelDeps, { principal, query }: KeyedExchange): JsonObject {
  const asked = query();
  const size = pageSizeOf(asked, { usual: DEFAULT_PAGE, most: MAX_PAGE });
  const after = asked.get("pageToken");
  const all = [
    ...listModels(deps, principal).map((model) => ({ name: model.id as string, model })),
    ...listAliases(deps, principal).map(({ alias, model }) => ({ name: alias, model })),
  ].filter(({ model }) => methodsOf(model).length > 0);
  const from = after === null || after === "" ? 0 : 1 + all.findIndex(({ name }) => name === after);
  if (from === 0 && after)
    throw mustBe("pageToken", { rule: "be the nextPageToken of an earlier page" }, after);
  const page = all.slice(from, from + size);
  const last = from + size < all.length ? page.at(-1) : undefined;
  return {
    models: page.map(({ name, model }) => presentModel(name, model)),
    ...(last !== undefined && { nextPageToken: last.name }),
  };
}

/** A page beyond the largest is as large as that. @throws AppError for what is no number */
export function pageSizeOf(query: URLSearchParams, { usual, most }: { usual: number; most: number }): number {
  const text = query.get("pageSize") ?? "";
  if (text === "" || text === "0") return usual;
  if (!/^\d{1,9}$/.test(text)) throw mustBe("pageSize", { integer: { least: 0, most } }, text);
  return Math.min(Number(text), most);
}
