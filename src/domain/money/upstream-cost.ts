import { findRoute, type Model, type Route } from "../model/model.ts";
import type { GenerationRequest } from "../task/request.ts";
import type { Attempt, Task } from "../task/task.ts";
import { formatAmount, type Micros } from "./money.ts";
import { chargeFor, type Delivered, isPriced, type Quote, quote } from "./pricing.ts";

/** What a delivery costs the operator; undefined if the cost of the attempt's route is unknown. */
export function costOf(
  model: Model | undefined,
  task: Task,
  attempt: Attempt | undefined,
  delivered: Delivered,
): Micros | undefined {
  const promised = costQuote(model, task, attempt);
  return promised && chargeFor(promised, delivered).amount;
}

/** The most that an attempt can cost the operator when its end is unknown, or it ended without a result. */
export function mostCostOf(
  model: Model | undefined,
  task: Task,
  attempt: Attempt | undefined,
): Micros | undefined {
  return costQuote(model, task, attempt)?.ceiling;
}

/** The detail of an attempt, with a note that its cost is an upper limit. */
export function atMost(detail: string | undefined, cost: Micros | undefined): string | undefined {
  if (cost === undefined) return detail;
  const note = `The cost is at most ${formatAmount(cost)}.`;
  if (detail === undefined) return note;
  return `${detail}${/[.!?]$/.test(detail) ? "" : "."} ${note}`;
}

/** The most that a request costs the operator on a route; undefined if that is unknown. */
export function routeCost(model: Model, route: Route, request: GenerationRequest): Micros | undefined {
  return routeQuote(model, route, request)?.ceiling;
}

function costQuote(
  model: Model | undefined,
  { request }: Task,
  attempt: Attempt | undefined,
): Quote | undefined {
  const route = model && attempt && findRoute(model, attempt);
  return route && routeQuote(model, route, request);
}

function routeQuote(model: Model, { cost }: Route, request: GenerationRequest): Quote | undefined {
  if (cost === undefined) return undefined;
  const promised = quote(model, request, cost === "list" ? {} : { rule: cost });
  return isPriced(promised) ? promised : undefined;
}
