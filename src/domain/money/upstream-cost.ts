import { findRoute, type Model } from "../model/model.ts";
import type { Attempt, Task } from "../task/task.ts";
import { formatAmount, type Micros } from "./money.ts";
import { chargeFor, type Delivered, isPriced, type Quote, quote } from "./pricing.ts";

/** What a delivery costs the operator, at the model's own price; undefined when the cost of the attempt's route is unknown. */
export function costOf(
  model: Model | undefined,
  task: Task,
  attempt: Attempt | undefined,
  delivered: Delivered,
): Micros | undefined {
  const promised = listQuote(model, task, attempt);
  return promised && chargeFor(promised, delivered).amount;
}

/** The most that an attempt can cost the operator when its end is unknown, or it ended without a result. */
export function mostCostOf(
  model: Model | undefined,
  task: Task,
  attempt: Attempt | undefined,
): Micros | undefined {
  return listQuote(model, task, attempt)?.ceiling;
}

/** The detail of an attempt, with a note that its cost is the most it can be. */
export function atMost(detail: string | undefined, cost: Micros | undefined): string | undefined {
  if (cost === undefined) return detail;
  const note = `The cost is at most ${formatAmount(cost)}.`;
  if (detail === undefined) return note;
  return `${detail}${/[.!?]$/.test(detail) ? "" : "."} ${note}`;
}

function listQuote(
  model: Model | undefined,
  { request }: Task,
  attempt: Attempt | undefined,
): Quote | undefined {
  if (model === undefined || attempt === undefined) return undefined;
  if (findRoute(model, attempt)?.isCharged !== true) return undefined;
  const promised = quote(model, request);
  return isPriced(promised) ? promised : undefined;
}
