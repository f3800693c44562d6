import type { Principal } from "../domain/access/account.ts";
import { allowsModel } from "../domain/access/permissions.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import type { Model } from "../domain/model/model.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import { suggest } from "../domain/suggest.ts";
import type { TellUnavailable } from "./unavailable-models.ts";

/** Other names for models, and the models they stand for. */
export type Aliases = { readonly [alias: string]: ModelId };

export interface ModelDeps {
  readonly catalog: Catalog;
  /** Aliases for every key. A key's own aliases come first. */
  readonly aliases: Aliases;
  /** Called when a caller names a model that no provider makes at present. */
  readonly tellUnavailable?: TellUnavailable | undefined;
}

/** Longer than any model id. */
const MODEL_ID_MAX = 200;

/**
 * The model a caller means by an id or an alias.
 *
 * @throws AppError `invalid_request` for a text that cannot be an id, `model_not_available` for an unknown model and for one
 * that no provider makes at present, `permission_denied` for a model that the key may not use
 */
export function readModel(deps: ModelDeps, principal: Principal, id: unknown): Model {
  const { model, isAvailable } = readAnyModel(deps, principal, id);
  if (isAvailable) return model;
  deps.tellUnavailable?.(model);
  throw withoutProvider(model);
}

/**
 * The same, whether or not a provider makes the model at present.
 * @throws AppError like `readModel`, except for a model that no provider makes
 */
export function readAnyModel(deps: ModelDeps, principal: Principal, id: unknown): FoundModel {
  if (typeof id !== "string" || id === "" || id.length > MODEL_ID_MAX) {
    throw invalid({ kind: "model_unusable", field: "model" });
  }
  const own = aliasedId(deps, principal, id) ?? id;
  const offered = deps.catalog.find(own);
  const model = offered ?? deps.catalog.all().find((each) => each.id === own);
  if (model === undefined) {
    const near = suggest(id, namesOf(deps, principal));
    throw new AppError("model_not_available", { kind: "model_unknown", model: id, near, field: "model" });
  }
  requireModel(principal, model.id);
  return { model, isAvailable: offered !== undefined };
}

/** @throws AppError `permission_denied` for a model that the caller's key may not use */
export function requireModel({ policy }: Principal, model: ModelId): void {
  if (allowsModel(policy, model)) return;
  throw new AppError("permission_denied", { kind: "model_forbidden", model, field: "model" });
}

/** No provider makes the model at present. */
export function withoutProvider({ id }: Model): AppError {
  return new AppError("model_not_available", { kind: "model_without_provider", model: id, field: "model" });
}

/** The model makes a different kind than the endpoint. */
export function ofOtherKind(code: "model_not_available" | "model_not_found", { id, kind }: Model): AppError {
  const path = `/v1/${kind}s/generations`;
  return new AppError(code, { kind: "model_of_other_kind", model: id, makes: kind, path, field: "model" });
}

export interface FoundModel {
  readonly model: Model;
  /** Whether a provider makes it at present. */
  readonly isAvailable: boolean;
}

/** All names by which the caller can name a model. */
function namesOf(deps: ModelDeps, principal: Principal): string[] {
  return [
    ...listModels(deps, principal).map(({ id }) => id),
    ...listAliases(deps, principal).map(({ alias }) => alias),
  ];
}

/** Where clients of the images API list the models. */
const COMPAT_MODELS = "/compat/v1/models";

/**
 * The same for the synchronous images API, which has its own code for missing models (docs/api.md 3.3), and its own list of them.
 * @throws AppError like `readModel`, with `model_not_found` instead of `model_not_available`
 */
export function readCompatModel(deps: ModelDeps, principal: Principal, id: unknown): Model {
  try {
    return readModel(deps, principal, id);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, facts, details } = error;
    if (
      facts.kind !== "model_unusable" &&
      facts.kind !== "model_unknown" &&
      facts.kind !== "model_without_provider"
    )
      throw error;
    const ownCode = code === "model_not_available" ? "model_not_found" : code;
    throw new AppError(ownCode, { ...facts, list: COMPAT_MODELS }, details, error);
  }
}

/** The models the caller's key may use and a provider makes at present. */
export function listModels(deps: ModelDeps, principal: Principal): Model[] {
  return deps.catalog.models().filter((model) => allowsModel(principal.policy, model.id));
}

/** The models that the caller's key may use, including those that no provider makes at present. */
export function listAllModels({ catalog }: ModelDeps, { policy }: Principal): FoundModel[] {
  return catalog
    .all()
    .filter((model) => allowsModel(policy, model.id))
    .map((model) => ({ model, isAvailable: catalog.find(model.id) !== undefined }));
}

/** Every alias of the caller that leads to a model the key may use, with that model. */
export function listAliases(deps: ModelDeps, principal: Principal): { alias: string; model: Model }[] {
  const all = { ...deps.aliases, ...principal.policy.aliases };
  return Object.entries(all).flatMap(([alias, id]) => {
    const model = deps.catalog.find(id);
    return model !== undefined && allowsModel(principal.policy, model.id) ? [{ alias, model }] : [];
  });
}

/** The id that an alias of the caller stands for; undefined if the text is no alias. */
export function aliasedId(
  deps: Pick<ModelDeps, "aliases">,
  { policy }: Principal,
  id: string,
): ModelId | undefined {
  if (policy.aliases !== undefined && Object.hasOwn(policy.aliases, id)) return policy.aliases[id];
  return Object.hasOwn(deps.aliases, id) ? deps.aliases[id] : undefined;
}
