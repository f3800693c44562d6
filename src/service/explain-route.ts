import type { ApiKey } from "../domain/access/account.ts";
import { invalid } from "../domain/errors.ts";
import type { NeedsOf } from "../domain/model/availability.ts";
import type { Model } from "../domain/model/model.ts";
import type { Standing } from "../domain/model/standing.ts";
import { unrouted } from "../domain/model/unrouted.ts";
import { routeCost } from "../domain/money/upstream-cost.ts";
import type { Catalog } from "../domain/ports/catalog.ts";
import type {
  Explained,
  ExplainedWay,
  ExplainRequest,
  ExplainRoute,
  Verdict,
} from "../domain/ports/managed-routes.ts";
import type { Routing } from "../domain/ports/routing.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import { isWanted, type Way } from "../domain/task/routing.ts";
import { findModel } from "./manage-models.ts";
import { type PriceDeps, ruleInForce } from "./price-terms.ts";
import { priceRequest } from "./priced-request.ts";
import { readRouting } from "./routing-wish.ts";

export interface ExplainDeps extends PriceDeps {
  readonly catalog: Pick<Catalog, "all" | "validate">;
  readonly routing: Pick<Routing, "consider">;
  readonly needsOf: NeedsOf;
  /** @throws AppError `not_found` */
  readonly readKey: (idOrName: string) => Promise<Pick<ApiKey, "policy" | "accountId">>;
}

export function createExplainRoute(deps: ExplainDeps): ExplainRoute {
  return async (asked) => {
    const { catalog, routing } = deps;
    const model = findModel(catalog, asked.model);
    const key = asked.key === undefined ? undefined : await deps.readKey(asked.key);
    const body = { ...asked.request, model: model.id };
    const terms = { rule: ruleInForce(deps, model).rule };
    const { request } = priceRequest(catalog, model, { body, names: {} }, terms);
    // An operator may name any route.
    const policy = { ...key?.policy, namedRoutes: "allowed" } as const;
    const wish = readRouting(asked, { policy }, model);
    const wished: GenerationRequest = wish === undefined ? request : { ...request, routing: wish };
    const ways = routing.consider(model, wished, key?.accountId);
    const explained = ways.map((way) => explain(deps, { model, request: wished, way }));
    return {
      ...{ model: model.id, mode: request.mode, outcome: outcomeOf(ways), ways: explained },
      ...policyOf(asked, wish?.policy, model),
    };
  };
}

function policyOf(
  { policy: asked }: ExplainRequest,
  wished: Explained["policy"] | undefined,
  { routePolicy }: Model,
): Pick<Explained, "policy" | "policyFrom"> {
  if (wished !== undefined) return { policy: wished, policyFrom: asked === undefined ? "key" : "request" };
  return routePolicy === undefined
    ? { policy: "ordered", policyFrom: "default" }
    : { policy: routePolicy, policyFrom: "model" };
}

interface Explaining {
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly way: Way;
}

function explain(deps: ExplainDeps, { model, request, way }: Explaining): ExplainedWay {
  const { route, lane, standing, isAble } = way;
  const cost = isAble ? routeCost(model, route, request) : undefined;
  return {
    ...{ provider: route.provider, lane, upstreamModel: route.upstreamModel, standing, cost },
    ...verdictOf(deps, { model, request, way }),
  };
}

function verdictOf(
  { needsOf }: ExplainDeps,
  { model, request, way }: Explaining,
): Pick<ExplainedWay, "verdict" | "field" | "why"> {
  const { route, lane, standing, ofOthers, isAble, isChosen, isNext } = way;
  if (!isWanted(request.routing?.route, route)) return { verdict: "not_asked_for" };
  if (!isAble) {
    const { message, param } = invalid(unrouted(model, [route], request));
    return { verdict: "cannot", field: param, why: message };
  }
  if (lane === undefined) {
    const needs = needsOf(route.provider);
    return { verdict: "off", ...(needs.length > 0 && { why: `It needs ${needs.join(" and ")}.` }) };
  }
  const verdict = shutVerdict(standing) ?? (isChosen ? "chosen" : isNext ? "next" : "standby");
  const why = standing.detail ?? ofOthers;
  return { verdict, ...(why !== undefined && { why }) };
}

/** Undefined for a way that gets tasks, even if only one task that tries it. */
function shutVerdict({ state }: Standing): Verdict | undefined {
  return state === "closed" || state === "half_open" ? undefined : state;
}

function outcomeOf(ways: readonly Way[]): Explained["outcome"] {
  const chosen = ways.find(({ isChosen }) => isChosen)?.standing;
  if (chosen === undefined) return "refused";
  const verdict = shutVerdict(chosen);
  if (verdict === undefined) return "sent";
  return verdict === "refused" || verdict === "spent" ? "refused" : "waits";
}
