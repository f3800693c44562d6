import type { Principal } from "../../../domain/access/account.ts";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import { AppError, invalid } from "../../../domain/errors.ts";
import type { ProviderId } from "../../../domain/ids.ts";
import type { Model, Route } from "../../../domain/model/model.ts";
import type { Secrets } from "../../../domain/ports/runtime.ts";
import { type ModelDeps, readModel } from "../../../service/read-model.ts";
import { type AskedModel, askedModel, OWNER, ownModel } from "../models.ts";

export interface VersionDeps extends ModelDeps {
  readonly secrets: Pick<Secrets, "hash">;
}

/** The provider that routes to that API itself have. */
// Ids of providers are plain texts; this one is a declared provider's.
const REPLICATE = "replicate" as ProviderId;

const versions = new WeakMap<Model, string>();

/** The version of a model as it is defined now: 64 hexadecimal digits, which change when what it takes does. */
export function versionOf({ secrets }: Pick<VersionDeps, "secrets">, model: Model): string {
  const known = versions.get(model);
  if (known !== undefined) return known;
  const { id, kind, schema, modes } = model;
  const made = secrets.hash(canonicalJson({ id, kind, schema, modes: modes.map((mode) => mode.id) }));
  versions.set(model, made);
  return made;
}

/** `owner/name:version`, in any of its parts. */
const REFERENCE = /^(?:([^/:]+\/[^/:]+)(?::(.+))?|([^/:]+))$/;

/**
 * The model that a prediction is to be made by: `owner/name`, `owner/name:version` or a version alone. A version of that API's own says
 * nothing of a model that is known here by its name there alone, or by an alias: programs name what it was when they were written.
 * @param field of the body that says so
 * @throws AppError as `readModel`; `invalid_request` for a version that is not there, or another model's
 */
export function referredModel(
  deps: VersionDeps,
  principal: Principal,
  reference: string,
  field: string,
): AskedModel {
  const [, name, version, alone] = REFERENCE.exec(reference) ?? [];
  const unknown = () => invalid({ kind: "version_unknown", field });
  if (name === undefined) return versionAlone(deps, principal, alone ?? reference, unknown);
  const asked = namedModel(deps, principal, name);
  if (version === undefined || version === versionOf(deps, asked.model)) return asked;
  const pinned = versionsNamed(asked.model, name);
  const isOurs = name.startsWith(`${OWNER}/`);
  if (pinned.includes(version) || (pinned.length === 0 && !isOurs)) return asked;
  throw unknown();
}

/** The versions of that API's model of a name that routes lead to, or that have no name. */
function versionsNamed({ routes }: Model, name: string): string[] {
  return routes
    .filter(({ provider }) => provider === REPLICATE)
    .map(({ upstreamModel }) =>
      upstreamModel.startsWith(`${name}:`) ? upstreamModel.slice(name.length + 1) : upstreamModel,
    )
    .filter((version) => !version.includes("/"));
}

/** The model of that name: an alias, ours, or that API's own. @throws AppError as `readModel` */
export function namedModel(deps: ModelDeps, principal: Principal, name: string): AskedModel {
  const own = ownModel(deps, principal, name);
  if (own !== undefined) return { model: own, route: ownRoute(own) };
  const asked = askedModel(deps, principal, name, {
    provider: REPLICATE,
    isNamed: ({ upstreamModel }) => upstreamModel === name || upstreamModel.startsWith(`${name}:`),
  });
  return { ...asked, route: asked.route ?? ownRoute(asked.model) };
}

/** Its words are known for a model whatever it is called. */
function ownRoute({ routes }: Model): Route | undefined {
  return routes.find(({ provider }) => provider === REPLICATE);
}

function versionAlone(
  deps: VersionDeps,
  principal: Principal,
  version: string,
  unknown: () => AppError,
): AskedModel {
  const isIt = (model: Model) =>
    versionOf(deps, model) === version ||
    model.routes.some(
      ({ provider, upstreamModel }) =>
        provider === REPLICATE && (upstreamModel === version || upstreamModel.endsWith(`:${version}`)),
    );
  const model = deps.catalog.all().find(isIt);
  if (model !== undefined) {
    return { model: readModel(deps, principal, model.id), route: ownRoute(model) };
  }
  try {
    return namedModel(deps, principal, version);
  } catch (error) {
    const isUnknown =
      error instanceof AppError && ["model_not_available", "invalid_request"].includes(error.code);
    throw isUnknown ? unknown() : error;
  }
}
