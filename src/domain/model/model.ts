import type { LaneId, ModelId, ProviderId } from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import type { MediaKind } from "../media/asset.ts";
import type { Micros } from "../money/money.ts";
import type { PriceUnit } from "../money/price-units.ts";
import type { InputRole, TaskKind } from "../task/request.ts";
import type { FollowUps } from "./follow-up.ts";
import type { RoutePolicy } from "./route-policy.ts";
import type { Wording } from "./wording.ts";

/** One way to run a model: which provider, and that provider's name for it. */
export interface Route {
  readonly provider: ProviderId;
  readonly upstreamModel: string;
  /** The only account that the route uses. Absent: any account of the provider. */
  readonly account?: LaneId | undefined;
  /** Its share of the requests under the policy `weighted`, relative to the other routes; 1 unless given. */
  readonly weight?: number | undefined;
  /**
   * What the upstream charges the operator: `list` for the model's own price, or another price. Absent: the cost is not known.
   */
  readonly cost?: "list" | PriceRule | undefined;
  /** The modes of the model that the route supports. Absent: all. */
  readonly modes?: readonly string[] | undefined;
  /** Limits of the route for some fields of the model's schema. For any other field the schema alone applies. */
  readonly only?: { readonly [field: string]: FieldLimit } | undefined;
  /** The provider takes files only by their address, and this service has no public address. */
  readonly takesNoFiles?: true | undefined;
  /** How requests are worded for the upstream. Absent: as the model words them. */
  readonly wording?: Wording | undefined;
}

/**
 * What a route takes of a field: nothing; only some values; or a range, which limits a number's value, a text's characters or a
 * list's entries.
 */
export type FieldLimit =
  | false
  | { readonly enum: readonly Json[] }
  | { readonly minimum?: number | undefined; readonly maximum?: number | undefined };

/** What distinguishes the routes of a model. */
export type RouteName = Pick<Route, "provider" | "upstreamModel">;

/** The route of this name; undefined when the model no longer has it. */
export function findRoute(model: Model, { provider, upstreamModel }: RouteName): Route | undefined {
  return model.routes.find((route) => route.provider === provider && route.upstreamModel === upstreamModel);
}

/** One priced quantity. A request is charged for every line that applies to it. */
export interface PriceLine {
  readonly sku: string;
  readonly unit: PriceUnit;
  /** Of `per` units. */
  readonly unitMicros: Micros;
  /** 1 unless given; a million where tokens are priced by the million. */
  readonly per?: number | undefined;
  /**
   * The most units that one output can have, or the request if units are counted per request. Needed if the request does not
   * say how many.
   */
  readonly most?: number | undefined;
  /**
   * Limits the line to requests whose parameters have these values. A list means any of its values. `mode` is the mode of the
   * request, unless the schema has a parameter of that name.
   */
  readonly when?: { readonly [parameter: string]: Json } | undefined;
}

/** Prices are data with a version; a task keeps the version and the lines it was accepted with. */
export interface PriceRule {
  readonly version: string;
  readonly lines: readonly PriceLine[];
  /** The least that a task costs if it delivers anything. */
  readonly minimumMicros?: Micros | undefined;
}

/** A field of the request that carries media, and what it means. */
export interface MediaField {
  readonly name: string;
  readonly role: InputRole;
  readonly media: MediaKind;
}

/** A mode applies if every role that it requires is present. The mode that requires most wins. */
export interface Mode {
  readonly id: string;
  readonly requires: readonly InputRole[];
}

/** A catalogue entry: everything the service knows about one public model id. */
export interface Model {
  readonly id: ModelId;
  readonly kind: TaskKind;
  readonly name: string;
  readonly description: string;
  readonly modes: readonly Mode[];
  /** JSON Schema 2020-12 of the create body. */
  readonly schema: JsonObject;
  readonly mediaFields: readonly MediaField[];
  /**
   * What holds of everything that the model makes, by the names of fields that it does not have, with the values that mean it. A request
   * that has one of these values is taken, one that has another is refused; no upstream is told.
   */
  readonly always?: { readonly [field: string]: readonly Json[] } | undefined;
  /** Whether `task_id` + `index` may name an earlier result in place of the media field with this name. */
  readonly resultField?: { readonly role: InputRole } | undefined;
  /** What the model can do with an earlier result; nothing unless given. */
  readonly followUps?: FollowUps | undefined;
  readonly price: PriceRule;
  /** How long a task may take from acceptance to its end. */
  readonly deadlineMs: number;
  readonly routes: readonly Route[];
  /** How one of the routes is chosen; `ordered` unless given. */
  readonly routePolicy?: RoutePolicy | undefined;
  readonly overflow?: Overflow | undefined;
  /** The operator's own file that defines it; absent for a built-in model. */
  readonly file?: string | undefined;
}

/** Sends tasks to a more expensive route if they would have to wait for the others. */
export interface Overflow {
  /** The more expensive route. It takes no other tasks. */
  readonly to: { readonly provider: ProviderId; readonly upstreamModel?: string | undefined };
  /** A task goes there if it would wait longer than this for the other routes. */
  readonly afterMs: number;
  /** Most tasks that may go there in an hour. */
  readonly mostPerHour?: number | undefined;
  /** The most that these tasks may cost the operator in an hour. */
  readonly mostCost?: Micros | undefined;
}

/** The most specific mode whose inputs are all present, or undefined when none fits. */
export function selectMode(model: Model, roles: ReadonlySet<InputRole>): Mode | undefined {
  let best: Mode | undefined;
  for (const mode of model.modes) {
    const isMore = best === undefined || mode.requires.length > best.requires.length;
    if (isMore && mode.requires.every((role) => roles.has(role))) best = mode;
  }
  return best;
}
