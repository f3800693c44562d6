import type { ModelId, ProviderId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { laneOf } from "../domain/lane.ts";
import type { FollowUps } from "../domain/model/follow-up.ts";
import type { FieldLimit, MediaField, Mode, Model, Overflow, Route } from "../domain/model/model.ts";
import type { RoutePolicy } from "../domain/model/route-policy.ts";
import type { InputWording, Wording } from "../domain/model/wording.ts";
import { parseAmount } from "../domain/money/money.ts";
import type { InputRole, TaskKind } from "../domain/task/request.ts";
import { composeSchema, type SchemaForm, withBoundedCount } from "./create-body.ts";
import { type PriceRuleForm, toPriceRule } from "./price.ts";
import { type WorkflowForm, workflowWording } from "./workflow.ts";

/** What a manifest says, in the shape that `manifest.schema.json` gives it. */
export interface Manifest {
  /** In an operator's own file: whether the model takes the place of a built-in one. */
  readonly replaces?: boolean;
  readonly id: string;
  readonly kind: TaskKind;
  readonly name: string;
  readonly description: string;
  readonly modes: readonly Mode[];
  readonly schema: SchemaForm;
  /** Names of properties in `shared.yaml`. */
  readonly shared?: readonly string[];
  readonly media?: { readonly [name: string]: Omit<MediaField, "name"> };
  readonly result_input?: { readonly role: InputRole };
  /** A list has values that come to the same. */
  readonly always?: { readonly [field: string]: Json };
  readonly follow_ups?: FollowUps;
  readonly price: PriceRuleForm;
  readonly deadline_seconds: number;
  readonly routes: readonly RouteForm[];
  readonly route_policy?: RoutePolicy;
  readonly overflow?: OverflowForm;
}

export interface OverflowForm {
  /** A provider, or with a colon a provider and its name for the model. */
  readonly to: string;
  readonly after_seconds: number;
  readonly most_per_hour?: number;
  readonly most_cost?: string;
}

export interface RouteForm {
  readonly provider: string;
  readonly upstream_model: string;
  /** The name of an account. */
  readonly account?: string;
  readonly weight?: number;
  readonly cost?: "list" | PriceRuleForm;
  readonly modes?: readonly string[];
  readonly only?: { readonly [field: string]: FieldLimit };
  readonly wording?: WordingForm;
  readonly workflow?: WorkflowForm;
}

export interface WordingForm extends Omit<Wording, "inputs" | "workflow"> {
  readonly inputs?: { readonly [role: string]: { readonly field: string; readonly list?: boolean } };
}

/** The model that a manifest describes, which must fit the schema of manifests and have no problem of its own. */
export function toModel(manifest: Manifest): Model {
  const mediaFields = mediaFieldsOf(manifest);
  return {
    // Manifests are where model ids come from.
    id: manifest.id as ModelId,
    kind: manifest.kind,
    name: manifest.name,
    description: manifest.description,
    modes: manifest.modes,
    schema: withBoundedCount(composeSchema(manifest.schema, manifest.shared ?? [], mediaFields)),
    mediaFields,
    always: manifest.always && toAlways(manifest.always),
    resultField: manifest.result_input,
    followUps: manifest.follow_ups,
    price: toPriceRule(manifest.price),
    deadlineMs: manifest.deadline_seconds * 1000,
    routes: manifest.routes.map(toRoute),
    routePolicy: manifest.route_policy,
    overflow: manifest.overflow && toOverflow(manifest.overflow),
  };
}

function toAlways(given: NonNullable<Manifest["always"]>): Model["always"] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat()]));
}

function toOverflow({ to, after_seconds, most_per_hour, most_cost }: OverflowForm): Overflow {
  return {
    to: toRouteName(to),
    afterMs: after_seconds * 1000,
    mostPerHour: most_per_hour,
    mostCost: most_cost === undefined ? undefined : parseAmount(most_cost),
  };
}

export function toRouteName(text: string): Overflow["to"] {
  const colon = text.indexOf(":");
  if (colon === -1) return { provider: text as ProviderId };
  return { provider: text.slice(0, colon) as ProviderId, upstreamModel: text.slice(colon + 1) };
}

export function mediaFieldsOf({ media = {} }: Pick<Manifest, "media">): MediaField[] {
  return Object.entries(media).map(([name, field]) => ({ name, ...field }));
}

/** The route that a manifest describes. */
export function toRoute(form: RouteForm): Route {
  const { provider, upstream_model, account, cost, wording, workflow, ...route } = form;
  // Whether there is a provider of this id is known when the service is put together.
  const id = provider as ProviderId;
  return {
    provider: id,
    upstreamModel: upstream_model,
    account: account === undefined ? undefined : laneOf(id, account),
    weight: route.weight,
    cost: typeof cost === "object" ? toPriceRule(cost) : cost,
    modes: route.modes,
    only: route.only,
    wording: workflow === undefined ? wording && toWording(wording) : workflowWording(workflow, wording),
  };
}

function toWording({ inputs = {}, ...wording }: WordingForm): Wording {
  const placed = Object.entries(inputs).map(([role, { field, list = false }]): [string, InputWording] => [
    role,
    { field, isList: list },
  ]);
  return { ...wording, inputs: Object.fromEntries(placed) };
}
