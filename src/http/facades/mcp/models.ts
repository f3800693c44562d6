import { allowsFeature } from "../../../domain/access/permissions.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model, PriceRule } from "../../../domain/model/model.ts";
import { CURRENCY, formatAmount } from "../../../domain/money/money.ts";
import { formatMultiplier, ONE } from "../../../domain/money/multiplier.ts";
import type { TaskKind } from "../../../domain/task/request.ts";
import { priceTerms } from "../../../service/price-terms.ts";
import { listAliases, listModels } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { McpDeps } from "./deps.ts";

type Caller = Pick<KeyedExchange, "principal">;

/** The models that the caller may create with at present. */
export function usableModels(deps: McpDeps, { principal }: Caller): Model[] {
  const isAllowed = (kind: TaskKind) => allowsFeature(principal.policy, `${kind}s`);
  return listModels(deps, principal).filter(({ kind }) => isAllowed(kind));
}

/**
 * The parameter by which a tool's model is chosen: ids and aliases, each with its name and price.
 * @param isBrief leaves names and prices out, because an agent reads every list whole
 */
export function modelParameter(
  deps: McpDeps,
  caller: Caller,
  models: readonly Model[],
  isBrief = false,
): JsonObject {
  const ids = new Set<string>(models.map(({ id }) => id));
  const aliases = listAliases(deps, caller.principal).filter(({ model }) => ids.has(model.id));
  const lines = [
    ...models.map((model) => `${model.id}: ${model.name}, ${priceOf(deps, caller, model)}`),
    ...aliases.map(({ alias, model }) => `${alias}: the same as ${model.id}`),
  ];
  return {
    type: "string",
    enum: [...new Set([...ids, ...aliases.map(({ alias }) => alias)])],
    description: isBrief ? "The model." : ["The model, with its price:", ...lines].join("\n"),
  };
}

function priceOf(deps: McpDeps, { principal }: Caller, model: Model): string {
  const { rule, multiplier = ONE } = priceTerms(deps, principal, model);
  return `${leastPrice(rule)}${multiplier === ONE ? "" : `, times ${formatMultiplier(multiplier)}`}`;
}

/** The cheapest of a rule's lines, in words. */
function leastPrice({ lines }: PriceRule): string {
  const [first, ...others] = [...lines].sort(
    (one, other) => one.unitMicros / (one.per ?? 1) - other.unitMicros / (other.per ?? 1),
  );
  if (first === undefined) return "free";
  const per = first.per === undefined ? "" : `${first.per} `;
  return `${others.length > 0 ? "from " : ""}${formatAmount(first.unitMicros)} ${CURRENCY} per ${per}${first.unit}`;
}
