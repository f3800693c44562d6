import type { AssetId, LaneId, ModelId, ProviderId, TaskId } from "../ids.ts";
import type { Json } from "../json.ts";
import type { StillType } from "../media/asset.ts";
import type { RoutePolicy } from "../model/route-policy.ts";
import type { GroupTerms } from "./group-terms.ts";

export const TASK_KINDS = ["image", "video"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** What an input is for. A manifest maps each of its media fields to one. */
export const INPUT_ROLES = [
  "image",
  "mask",
  "first_frame",
  "last_frame",
  "reference",
  "video",
  "motion",
  "audio",
] as const;
export type InputRole = (typeof INPUT_ROLES)[number];

/**
 * Where an input's bytes are. The task's first step fetches a `url` and makes it an `asset`; no adapter sees a `url`.
 */
export type MediaSource =
  | {
      readonly kind: "asset";
      readonly assetId: AssetId;
      /** The earlier result that it is a copy of, if the create named one. */
      readonly result?: { readonly taskId: TaskId; readonly index: number } | undefined;
    }
  | { readonly kind: "url"; readonly url: string };

export interface MediaInput {
  readonly role: InputRole;
  /** Path into the create body that named it: `image_urls[2]`. */
  readonly param: string;
  readonly source: MediaSource;
  /** A mask that must still be fetched. If it has no transparency, white marks what may change. */
  readonly mayBePainted?: boolean | undefined;
}

/**
 * One validated request in the vocabulary adapters translate from. Stored with the task; never holds file content.
 *
 * `parameters` holds every field of the model's schema that was given or has a default, under its public name, except media
 * fields and `model`, `prompt`, `n` and `callback_url`.
 */
export interface GenerationRequest {
  readonly kind: TaskKind;
  readonly model: ModelId;
  /** One of the model's modes, e.g. `text-to-image`. */
  readonly mode: string;
  readonly prompt?: string | undefined;
  /** Outputs asked for, 1-10. */
  readonly n: number;
  readonly parameters: { readonly [name: string]: Json };
  readonly inputs: readonly MediaInput[];
  /** How many instances of this service have passed the request on; absent for none. */
  readonly hops?: number | undefined;
  /** How long its files stay after its end, in seconds, if its creator says so. */
  readonly retainSec?: number | undefined;
  /** When it is cancelled unless it has ended, if its creator says so; epoch milliseconds. */
  readonly cancelAt?: number | undefined;
  /** Whether it is cancelled then only if it has not started. */
  readonly cancelsUnstarted?: true | undefined;
  /** Whether answers in the form of its creator's API have the content of its results, and not their addresses. */
  readonly isInline?: true | undefined;
  /** What its pictures are stored as, where its provider cannot be told; others are made anew as that. */
  readonly resultType?: StillType | undefined;
  /** The group that it belongs to; see domain/task/group-terms.ts. */
  readonly group?: GroupTerms | undefined;
  /** The `traceparent` of the create, if it is traced; see domain/tracing.ts. */
  readonly trace?: string | undefined;
  /** What the creator or the creator's key says about the task's way. */
  readonly routing?: RoutingWish | undefined;
}

/** How a task's way is chosen, if the model does not decide it. */
export interface RoutingWish {
  readonly policy?: RoutePolicy | undefined;
  /** The only provider, or the only route of a provider, that the task may take. */
  readonly route?:
    | {
        readonly provider: ProviderId;
        readonly upstreamModel?: string | undefined;
        readonly account?: LaneId | undefined;
      }
    | undefined;
}
