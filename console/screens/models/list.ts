import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import type { Tone } from "../../parts/status.tsx";

type Model = Schemas["ManagedModel"];
type Price = Schemas["ManagedPrice"];

/** Which models are shown; the address has the same names. */
export interface Filters {
  readonly find: string;
  readonly kind: string;
  readonly state: string;
  readonly provider: string;
}

/** A model with where its price comes from. */
export interface ListedModel {
  readonly model: Model;
  readonly price: Price | undefined;
}

/** Every model, whether a provider makes it at present or not. @throws ApiProblem */
export async function readModels(signal: AbortSignal): Promise<readonly ListedModel[]> {
  const [{ models }, { prices }] = await Promise.all([
    ask("GET /admin/v1/models", {}, { signal }),
    ask("GET /admin/v1/pricing", {}, { signal }),
  ]);
  const byModel = new Map(prices.map((price) => [price.model, price]));
  return models.map((model) => ({ model, price: byModel.get(model.id) }));
}

/** Whether a model can be asked for, in a word. */
export function wordOf({ available, routes }: Pick<Model, "available" | "routes">): {
  readonly word: string;
  readonly tone: Tone;
} {
  if (!available) return { word: "off", tone: "idle" };
  const open = routes.filter((route) => route.available);
  const shut = open.filter((route) => route.shut === true);
  if (shut.length === 0) return { word: "ready", tone: "good" };
  return shut.length < open.length ? { word: "partly", tone: "warn" } : { word: "no way open", tone: "bad" };
}

/** What would switch a model on: what each of its routes needs, without those that need the same. */
export function needsOf({ routes }: Pick<Model, "routes">): readonly (readonly string[])[] {
  const seen = new Map(
    routes.flatMap(({ needs }) => (needs.length === 0 ? [] : [[needs.join(), needs] as const])),
  );
  return [...seen.values()];
}

/** Those that fit. */
export function fitting(all: readonly ListedModel[], filters: Filters): ListedModel[] {
  const { find, kind, state, provider } = filters;
  const words = find.toLowerCase().split(/\s+/);
  return all.filter((each) => {
    const { id, name, routes, modes } = each.model;
    const text = [id, name, each.model.kind, ...modes].join(" ").toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (kind === "" || kind === each.model.kind) &&
      (provider === "" || routes.some((route) => route.provider === provider)) &&
      (state === "" || isIn(state, each))
    );
  });
}

function isIn(state: string, { model, price }: ListedModel): boolean {
  if (state === "own") return model.file !== undefined;
  if (state === "priced") return price !== undefined && price.source !== "built_in";
  if (state === "unpriced") return price?.unpriced != null;
  if (state === "off") return !model.available;
  const { word } = wordOf(model);
  return state === "on" ? word === "ready" : model.available && word !== "ready";
}
