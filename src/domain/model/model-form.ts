import type { JsonObject } from "../json.ts";
import { CURRENCY } from "../money/money.ts";
import { formatMultiplier, ONE } from "../money/multiplier.ts";
import { priceForm } from "../money/price-form.ts";
import type { PriceTerms } from "../money/pricing.ts";
import { describe } from "../words/words.ts";
import { canBeTaken, isAvailable, type RouteState, refusalOf } from "./availability.ts";
import { FOLLOW_UPS } from "./follow-up.ts";
import type { Model } from "./model.ts";
import { troublesForm } from "./standing-form.ts";

/** A model as callers see it, with the prices that they pay. */
export interface Offer {
  readonly model: Model;
  readonly terms: PriceTerms;
  readonly isAvailable: boolean;
}

/** A model as `GET /v1/models` lists it. */
export function modelForm({ model, terms, isAvailable }: Offer): JsonObject {
  const { rule = model.price, multiplier = ONE } = terms;
  return {
    id: model.id,
    kind: model.kind,
    name: model.name,
    description: model.description,
    available: isAvailable,
    modes: model.modes.map((mode) => mode.id),
    follow_ups: FOLLOW_UPS.filter((name) => model.followUps?.[name] !== undefined),
    ...(model.always !== undefined && { always: model.always }),
    inputs: model.mediaFields.map(({ name, role, media }) => ({ field: name, role, media })),
    price: {
      currency: CURRENCY,
      ...priceForm(rule),
      ...(multiplier === ONE ? {} : { multiplier: formatMultiplier(multiplier) }),
    },
    deadline_seconds: Math.floor(model.deadlineMs / 1000),
    create_path: `/v1/${model.kind}s/generations`,
  };
}

/** A model with the JSON Schema (2020-12) of its create body. */
export function modelFormInFull(offer: Offer): JsonObject {
  return { ...modelForm(offer), schema: publishedSchema(offer.model) };
}

/** The schema of a model's create body as callers read it. A field's placeholder in a rule is replaced by the field's name. */
export function publishedSchema({ schema }: Pick<Model, "schema">): JsonObject {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "x-rule" ? describe({ kind: "rule", rule: value }, (field) => field) : value,
  );
}

/** A model as its operator sees it, with its routes and what each of them lacks. */
export function managedModelForm(given: Pick<Offer, "model" | "terms"> & Routes): JsonObject {
  return {
    ...modelForm({ ...given, isAvailable: isAvailable(given.routes) }),
    ...(given.model.file !== undefined && { file: given.model.file }),
    routes: given.routes.map(routeForm),
  };
}

function routeForm(route: RouteState): JsonObject {
  const { provider, upstreamModel, needs, modes, only, troubles } = route;
  return {
    provider,
    upstream_model: upstreamModel,
    available: canBeTaken({ needs }),
    needs,
    ...(modes && { modes }),
    ...(only && { only: only as JsonObject }),
    ...troublesForm({ refused: refusalOf(route), troubles }),
    ...(troubles.length > 0 && { shut: route.isShut }),
  };
}

interface Routes {
  readonly routes: readonly RouteState[];
}
