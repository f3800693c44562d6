import type { Principal } from "../domain/access/account.ts";
import type { Feature } from "../domain/access/key-policy.ts";
import { allowsFeature } from "../domain/access/permissions.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { canTake } from "../domain/model/eligibility.ts";
import type { Model, PriceRule, Route } from "../domain/model/model.ts";
import { unrouted } from "../domain/model/unrouted.ts";
import type { Forecast } from "../domain/money/forecast.ts";
import { type Micros, toMicros } from "../domain/money/money.ts";
import { MODE, meansMode } from "../domain/money/priced-fields.ts";
import { pricedParameters } from "../domain/money/pricing.ts";
import type { UsualDuration } from "../domain/money/usage.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import type { GenerationRequest, TaskKind } from "../domain/task/request.ts";
import { isWanted } from "../domain/task/routing.ts";
import { namesFrom } from "../domain/words/say.ts";
import type { ModelBody } from "./compat-request.ts";
import type { OfferedModel } from "./model-fields.ts";
import { type PriceDeps, priceTerms } from "./price-terms.ts";
import { type PricedLine, pricedLines, priceRequest } from "./priced-request.ts";
import { type ModelDeps, ofOtherKind, readCompatModel, readModel } from "./read-model.ts";
import { shortageFor } from "./require-funds.ts";
import { type AskedRouting, readRouting, routeText, routeUnknown } from "./routing-wish.ts";
import { createUsualDurations } from "./usual-durations.ts";

/** The endpoints whose requests can be estimated, with the kind that each makes and the feature that it needs. */
export const ESTIMATE_ENDPOINTS = {
  "/v1/images/generations": { kind: "image", feature: "images", isCompat: false },
  "/v1/videos/generations": { kind: "video", feature: "videos", isCompat: false },
  "/compat/v1/images/generations": { kind: "image", feature: "compat", isCompat: true },
  "/compat/v1/images/edits": { kind: "image", feature: "compat", isCompat: true },
} as const satisfies Readonly<Record<string, { kind: TaskKind; feature: Feature; isCompat: boolean }>>;
export type EstimateEndpoint = keyof typeof ESTIMATE_ENDPOINTS;

/** The most requests that one estimate covers. */
export const MAX_ESTIMATE_QUANTITY = 1000;

export interface EstimateRequest {
  readonly principal: Principal;
  /** The endpoint's own body; prompt and media may be left out. */
  readonly request: JsonObject;
  /** The asynchronous endpoint of the model's kind unless given. */
  readonly endpoint?: EstimateEndpoint | undefined;
  /** How many equal requests; 1 unless given. */
  readonly quantity?: number | undefined;
  /** How it asks for its way. */
  readonly routing?: AskedRouting | undefined;
}

/** A parameter that affects the price and that the request does not give. */
export interface Assumption {
  readonly field: string;
  readonly value: Json;
  /** `default`: from the model's schema. `inferred`: the mode, derived from the media that are given or missing. */
  readonly source: "default" | "inferred";
}

/** The cost of a number of equal requests. */
export interface Estimate {
  readonly model: ModelId;
  readonly endpoint: EstimateEndpoint;
  readonly quantity: number;
  /** `exact`: this is charged if everything is delivered. `range`: the charge lies between the two costs. */
  readonly status: "exact" | "range" | Exclude<Forecast["kind"], "priced">;
  /** Absent if there is no price. `most` is what the creates would hold. */
  readonly cost?: { readonly least: Micros; readonly most: Micros } | undefined;
  readonly lines: readonly PricedLine[];
  readonly assumptions: readonly Assumption[];
  /** Fields that are missing and that the create needs. */
  readonly missing: readonly string[];
  /** Whether the account and the key's quota suffice for all requests now; undefined if there is no price. */
  readonly isAffordable?: boolean | undefined;
  readonly limitedBy?: "balance" | "key_quota" | undefined;
  /** How long recent tasks of the model took on this server, from their start. */
  readonly duration?: UsualDuration | undefined;
  readonly priceVersion: string;
  /** A factor for every line, in millionths; undefined for 1. */
  readonly multiplier?: number | undefined;
  /** The routes that can do the request, as it may name them; undefined for keys that may not name routes. All cost the same. */
  readonly routes?: readonly string[] | undefined;
}

/** A model's create body, and the missing fields that the endpoint also needs, in the caller's names. */
export interface EstimateBody extends ModelBody {
  readonly missing?: readonly string[] | undefined;
}

export interface EstimateDeps extends ModelDeps, PriceDeps {
  readonly accounts: Pick<AccountStore, "account" | "keyQuota">;
  readonly usage: Pick<UsageStore, "recentDurations">;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  /** Translates an endpoint's body into the model's create body; unchanged unless given. */
  readonly toModelBody?: (
    endpoint: EstimateEndpoint,
    offered: OfferedModel,
    request: JsonObject,
  ) => EstimateBody;
}

/**
 * Prices a request without making it, with the validator and the quote of the create. Creates no task, holds no money, calls no
 * upstream and stores no file. The answer says whether the account has enough money.
 * @throws AppError like the create of the same body, except for missing prompt and media
 */
export type EstimateCost = (request: EstimateRequest) => Promise<Estimate>;

export function createEstimate(deps: EstimateDeps): EstimateCost {
  const usualDuration = createUsualDurations(deps);
  const toModelBody =
    deps.toModelBody ?? ((_endpoint, _offered, body): EstimateBody => ({ body, names: {} }));

  return async ({ principal, request, endpoint: given, quantity = 1, routing }) => {
    const { model, endpoint } = findModel(deps, principal, request.model, given);
    checkFeature(principal, endpoint);
    const offered = { model, routes: wantedRoutes(deps, principal, model, routing) };
    const { body, names, missing = [] } = toModelBody(endpoint, offered, request);
    const terms = priceTerms(deps, principal, model);
    const priced = priceRequest(deps.catalog, model, { body, names }, terms);
    const routes = ableRoutes(offered, priced.request, names);
    const leftOut = [...missing, ...priced.missing];
    const { forecast } = priced;
    const cost = forecast.kind === "priced" ? times(forecast, quantity) : undefined;
    return {
      model: model.id,
      endpoint,
      quantity,
      status: cost === undefined ? unpricedStatus(forecast) : cost.least === cost.most ? "exact" : "range",
      cost,
      lines: forecast.kind === "priced" ? pricedLines(forecast.quote, quantity) : [],
      assumptions: [
        ...modeAssumption(model, terms.rule, priced.request.mode, leftOut),
        ...defaultsTaken(terms.rule, body, priced.body),
      ],
      missing: [...leftOut, ...(forecast.kind === "needs_input" ? forecast.missing : [])],
      ...(await affordability(deps, principal, cost?.most)),
      duration: await usualDuration(model.id),
      priceVersion: terms.rule.version,
      multiplier: forecast.kind === "priced" ? forecast.quote.multiplier : undefined,
      routes: principal.policy.namedRoutes === "allowed" ? routes.map(routeText) : undefined,
    };
  };
}

function findModel(deps: ModelDeps, principal: Principal, id: unknown, given: EstimateEndpoint | undefined) {
  const { kind, isCompat } =
    given === undefined ? { kind: undefined, isCompat: false } : ESTIMATE_ENDPOINTS[given];
  const model = isCompat ? readCompatModel(deps, principal, id) : readModel(deps, principal, id);
  const own = `/v1/${model.kind}s/generations` as const;
  if (kind === undefined || kind === model.kind) return { model, endpoint: given ?? own };
  throw ofOtherKind(isCompat ? "model_not_found" : "model_not_available", model);
}

function checkFeature({ policy }: Principal, endpoint: EstimateEndpoint): void {
  const { feature } = ESTIMATE_ENDPOINTS[endpoint];
  if (allowsFeature(policy, feature)) return;
  throw new AppError("permission_denied", { kind: "feature_forbidden", feature, path: endpoint });
}

/** The routes that are switched on, or only the one that the request names. @throws AppError like `readRouting` */
function wantedRoutes(
  deps: ModelDeps,
  principal: Principal,
  model: Model,
  asked: AskedRouting | undefined,
): readonly Route[] {
  const routes = deps.catalog.routes(model);
  const named = readRouting(asked, principal, model)?.route;
  if (named === undefined) return routes;
  const wanted = routes.filter((route) => isWanted(named, route));
  if (wanted.length === 0) throw routeUnknown(routeText(named), model);
  return wanted;
}

/** @throws AppError like the create of a request that no route can do, with the caller's names for the fields */
function ableRoutes(
  { model, routes }: OfferedModel,
  request: GenerationRequest,
  names: ModelBody["names"],
): readonly Route[] {
  const able = routes.filter((route) => canTake(route, request));
  if (able.length > 0) return able;
  throw invalid(unrouted(model, routes, request)).renamed(namesFrom(names));
}

/** The mode, if it affects the price or was guessed: a request without its media may be meant for another mode. */
function modeAssumption(
  model: Model,
  rule: PriceRule,
  mode: string,
  missing: readonly string[],
): Assumption[] {
  const isPriced = meansMode(model) && pricedParameters(rule).includes(MODE);
  return isPriced || missing.some((name) => name !== "prompt")
    ? [{ field: "mode", value: mode, source: "inferred" }]
    : [];
}

/** The defaults of parameters that affect the price and that the request does not give. */
function defaultsTaken(rule: PriceRule, given: JsonObject, whole: JsonObject): Assumption[] {
  return ["n", ...pricedParameters(rule)].flatMap((field): Assumption[] => {
    const value = whole[field];
    return Object.hasOwn(given, field) || value === undefined ? [] : [{ field, value, source: "default" }];
  });
}

function times({ least, most }: { least: Micros; most: Micros }, quantity: number) {
  if (Number.isSafeInteger(most * quantity))
    return { least: toMicros(least * quantity), most: toMicros(most * quantity) };
  throw invalid({ kind: "quantity_uncountable", quantity });
}

function unpricedStatus(priced: Forecast): Exclude<Forecast["kind"], "priced"> {
  return priced.kind === "needs_input" ? "needs_input" : "unpriced";
}

async function affordability(deps: EstimateDeps, principal: Principal, most: Micros | undefined) {
  if (most === undefined) return {};
  const shortage = await shortageFor(deps, principal, most);
  return shortage === undefined
    ? { isAffordable: true }
    : { isAffordable: false, limitedBy: shortage.limitedBy };
}
