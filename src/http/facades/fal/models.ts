import type { Principal } from "../../../domain/access/account.ts";
import { AppError, invalid } from "../../../domain/errors.ts";
import type { ProviderId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model, Route } from "../../../domain/model/model.ts";
import { aliasedId, type ModelDeps } from "../../../service/read-model.ts";
import { type AskedModel, askedModel, ownModel } from "../models.ts";

/** Our provider with that API. */
const PROVIDER = "fal" as ProviderId;
/** The prefix that some clients put before every name: the owner of that API's own models. */
const OWNER = "fal-ai/";

/** A model, the route under whose name it was requested, and the modes that the name stands for; all unless given. */
export interface FalModel extends AskedModel {
  readonly modes?: readonly string[] | undefined;
}

/** @throws AppError `model_not_found`, and as `readModel` */
export function falModel(deps: ModelDeps, principal: Principal, name: string): FalModel {
  try {
    // Most ask for a model of ours.
    const own = name.startsWith(OWNER) ? undefined : ownModel(deps, principal, name);
    return own === undefined ? theirModel(deps, principal, name) : { model: own };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "model_not_available") throw error;
    throw new AppError("model_not_found", error.facts, error.details, error);
  }
}

function theirModel(deps: ModelDeps, principal: Principal, name: string): FalModel {
  const isNamed = (route: Route) => modesOf(route, name).length > 0 || route.upstreamModel === name;
  const bare = name.startsWith(OWNER) ? name.slice(OWNER.length) : name;
  const isTheirs = () =>
    deps.catalog
      .all()
      .some(({ routes }) => routes.some((each) => each.provider === PROVIDER && isNamed(each)));
  // A caller that puts this owner before the name of a model of ours gets our model, unless there is a model with the full name.
  const isOurs = bare !== name && isKnown(deps, principal, bare) && !isTheirs();
  const asked = askedModel(deps, principal, isOurs ? bare : name, { provider: PROVIDER, isNamed });
  const modes = asked.route === undefined ? [] : modesOf(asked.route, name);
  return { ...asked, modes: modes.length === 0 ? undefined : modes };
}

function isKnown(deps: ModelDeps, principal: Principal, name: string): boolean {
  return aliasedId(deps, principal, name) !== undefined || deps.catalog.find(name) !== undefined;
}

/** The modes whose endpoint has this name at a route's upstream. */
function modesOf({ upstreamModel, wording }: Route, name: string): string[] {
  return Object.entries(wording?.endpoints ?? {})
    .filter(([, endpoint]) => (endpoint.startsWith("/") ? upstreamModel + endpoint : endpoint) === name)
    .map(([mode]) => mode);
}

/**
 * Refuses a request without the files that a name stands for, such as `…/image-to-video` without an image.
 * @throws AppError `invalid_request` naming the field that is missing
 */
export function requireInputs(
  { model, modes }: FalModel,
  body: JsonObject,
  names: Readonly<Record<string, string>>,
): void {
  if (modes === undefined) return;
  const meant = model.modes.filter(({ id }) => modes.includes(id));
  const hasRole = (role: string) =>
    model.mediaFields.some((field) => field.role === role && body[field.name] !== undefined);
  if (meant.length === 0 || meant.some(({ requires }) => requires.every(hasRole))) return;
  const [role] = meant[0]?.requires.filter((each) => !hasRole(each)) ?? [];
  const field = fieldOf(model, role);
  if (field !== undefined) throw invalid({ kind: "required", field: names[field] ?? field });
}

function fieldOf({ mediaFields }: Model, role: string | undefined): string | undefined {
  return mediaFields.find((field) => field.role === role)?.name;
}
