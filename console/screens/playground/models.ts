import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { moneyText } from "../../parts/money.tsx";
import type { ModelInFull } from "./request.ts";

export type ListedModel = Schemas["Model"];

/** The most models that one request is given to. */
export const MOST_MODELS = 4;

/** Models that the key may use and a provider makes at present. @throws ApiProblem */
export async function readModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
  return (await ask("GET /v1/models", { query: {} }, { signal })).models;
}

/** @throws ApiProblem for a model that is gone */
export async function readModel(id: string, signal?: AbortSignal): Promise<ModelInFull> {
  // The schema is what the service checks bodies with: a JSON Schema.
  return (await ask("GET /v1/models/{model}", { path: { model: id }, query: {} }, { signal })) as ModelInFull;
}

/** The least that a line of its price comes to: `from $0.01 an output`. */
export function priceText({ price: { lines } }: Pick<ListedModel, "price">): string {
  const [least] = [...lines].sort((one, other) => Number(one.amount) - Number(other.amount));
  if (least === undefined) return "";
  const unit = least.unit.replaceAll("_", " ");
  return `${lines.length > 1 ? "from " : ""}${moneyText(least.amount)} / ${unit}`;
}

/** Whether a model has every word of a search in its name, kind or modes. */
export function isLike(model: ListedModel, search: string): boolean {
  const text = [model.id, model.name, model.kind, ...model.modes].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
