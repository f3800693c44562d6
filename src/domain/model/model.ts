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
  /** The one account that it goes to. Absent: any account of the provider. */
  readonly account?: LaneId | undefined;
  /** Its part of the requests by the policy `weighted`, beside those of the other routes; 1 unless given. */
  readonly weight?: number | undefined;
  /**
   * What the upstream charges the operator: `list` for the model's own price, or a price of its own. Absent: nothing is known of its
   * cost.
   */
  readonly cost?: "list" | PriceRule | undefined;
  /** The modes of the model that it does. Absent: all. */
  readonly modes?: readonly string[] | undefined;
  /** What it takes of some fields of the model's schema. A field that is not here is taken as the schema has it. */
  readonly only?: { readonly [field: string]: FieldLimit } | undefined;
  /** Its provider takes files by their address alone, and this service has none that it can be reached by. */
  readonly takesNoFiles?: true | undefined;
  /** How requests are worded for the upstream. Absent: its words are the model's own. */
  readonly wording?: Wording | undefined;
}

/** What a route takes of a field: nothing at all; some values; or so much, which is a number's value, a text's characters, a list's entries. */
export type FieldLimit =
  | false
  | { readonly enum: readonly Json[] }
  | { readonly minimum?: number | undefined; readonly maximum?: number | undefined };

/** What tells the routes of a model apart. */
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
  /** The most units that an output, or a request where they are counted so, can come to. Needed where the request does not tell. */
  readonly most?: number | undefined;
  /**
   * Limits the line to requests whose parameters have these values; of a list, any. `mode` is the mode of the request, unless the
   * schema has a parameter of that name.
   */
  readonly when?: { readonly [parameter: string]: Json } | undefined;
}

/** Prices are data with a version; a task keeps the version and the lines it was accepted with. */
export interface PriceRule {
  readonly version: string;
  readonly lines: readonly PriceLine[];
  /** The least a task costs that delivers anything. */
  readonly minimumMicros?: Micros | undefined;
}

/** A field of the request that carries media, and what it means. */
export interface MediaField {
  readonly name: string;
  readonly role: InputRole;
  readonly media: MediaKind;
}

/** A mode is chosen when every role it requires is present; the one that requires most wins. */
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
  /** Whether `task_id` + `index` may name an earlier result in place of the media field with this name. */
  readonly resultField?: { readonly role: InputRole } | undefined;
  /** What it can make of an earlier result; nothing unless given. */
  readonly followUps?: FollowUps | undefined;
  readonly price: PriceRule;
  /** How long a task may take from acceptance to its end. */
  readonly deadlineMs: number;
  readonly routes: readonly Route[];
  /** How one of the routes is chosen; `ordered` unless given. */
  readonly routePolicy?: RoutePolicy | undefined;
  readonly overflow?: Overflow | undefined;
  /** The operator's own file that it comes from; absent for one that is built in. */
  readonly file?: string | undefined;
}

/** Lets tasks go to a dearer route where the others would have them wait. */
export interface Overflow {
  /** The dearer route, which is taken for nothing else. */
  readonly to: { readonly provider: ProviderId; readonly upstreamModel?: string | undefined };
  /** A task that would wait longer for the others goes there. */
  readonly afterMs: number;
  /** Tasks that may go there in an hour. */
  readonly mostPerHour?: number | undefined;
  /** What they may cost the operator in an hour. */
  readonly mostCost?: Micros | undefined;
}

/** The most specific mode whose inputs are all present, or undefined when none fits. */
export function selectMode(model: Model, roles: ReadonlySet<InputRole>): Mode | undefined {
  return model.modes
    .filter((mode) => mode.requires.every((role) => roles.has(role)))
    .reduce<Mode | undefined>(
      (best, mode) => (best === undefined || mode.requires.length > best.requires.length ? mode : best),
      undefined,
    );
}
