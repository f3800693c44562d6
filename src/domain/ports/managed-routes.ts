import type { LaneId, ModelId, ProviderId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { RoutePolicy } from "../model/route-policy.ts";
import type { Standing } from "../model/standing.ts";
import type { Micros } from "../money/money.ts";

/** An account that is switched on. */
export interface RouteAccount {
  readonly provider: ProviderId;
  readonly lane: LaneId;
  /** Most tasks that it may have under way. */
  readonly concurrency?: number | undefined;
}

/** What a running server knows of a route at an account. */
export interface RouteFigures {
  /** Submissions that the account takes in a minute; absent if there is no limit. */
  readonly perMinute?: number | undefined;
  /** Of the tasks that completed in the last hour; absent for too few. */
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
}

/** A way that tasks can take, as its operator sees it: an account and its name for a model. */
export interface ManagedWay extends RouteAccount, RouteFigures {
  readonly upstreamModel: string;
  /** Ids of the models that have a route to it. */
  readonly models: readonly ModelId[];
  readonly standing: Standing;
  /** Tasks of the whole account that were sent and have not ended. */
  readonly underWay: number;
  /** What the attempts that ended there today (UTC) cost the operator, as far as this is known. */
  readonly spentToday: Micros;
  /** How the tasks of these models ended at this account in the last hour; absent without a server. */
  readonly ended?: { readonly completed: number; readonly failed: number } | undefined;
}

/** What an operator blocks or allows. */
export interface RouteTarget {
  readonly provider: string;
  /** Every account of the provider unless given. */
  readonly account?: string | undefined;
  /** The account as a whole unless given. */
  readonly upstreamModel?: string | undefined;
}

/** The ways that tasks can take, of a server or a data folder. */
export interface ManagedRoutes {
  /** Every way at every account that is switched on, by account. */
  list(): Promise<readonly ManagedWay[]>;
  /**
   * Gives the target no more tasks; what is under way goes on. Resolves when the block is stored.
   *
   * @param reason for people
   * @returns the affected ways as they are now
   * @throws AppError `not_found` if the provider, the account or the model does not exist
   */
  block(target: RouteTarget, reason?: string): Promise<readonly ManagedWay[]>;
  /** Forgets every problem that is known about the target. @returns and throws as `block` */
  allow(target: RouteTarget): Promise<readonly ManagedWay[]>;
}

/** A request for which an operator asks the way. */
export interface ExplainRequest {
  readonly model: string;
  /** The create body; prompt and media may be left out. */
  readonly request?: JsonObject | undefined;
  /** The values of the headers X-Route-Policy and X-Route. */
  readonly policy?: string | undefined;
  readonly route?: string | undefined;
  /** Id or name of the key that would send it. */
  readonly key?: string | undefined;
}

/**
 * How a way is used. `chosen` the task is sent here · `next` it is sent here if the chosen way fails · `standby` it could be
 * sent here · `cannot` the route cannot do the request exactly · `off` no account is switched on · `not_asked_for` the request
 * names another way; otherwise the standing of the way.
 */
export const VERDICTS = [
  "chosen",
  "next",
  "standby",
  "cannot",
  "off",
  "not_asked_for",
  "open",
  "refused",
  "spent",
  "blocked",
  "paused",
] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface ExplainedWay {
  readonly provider: ProviderId;
  /** Absent if no account of the provider is switched on. */
  readonly lane?: LaneId | undefined;
  readonly upstreamModel: string;
  readonly verdict: Verdict;
  /** For `cannot`: the field that the route cannot do. */
  readonly field?: string | undefined;
  /** Why, for people. */
  readonly why?: string | undefined;
  readonly standing: Standing;
  /** The most that the request costs the operator there; absent if that is unknown. */
  readonly cost?: Micros | undefined;
}

export interface Explained {
  readonly model: ModelId;
  readonly mode: string;
  readonly policy: RoutePolicy;
  readonly policyFrom: "request" | "key" | "model" | "default";
  /** `sent` at once · `waits` until a way opens · `refused` the create is refused or the task ends: no way can do it, or only the operator can open one. */
  readonly outcome: "sent" | "waits" | "refused";
  readonly ways: readonly ExplainedWay[];
}

/** Says which way a request would take now, and why. Creates no task. @throws AppError like an estimate of the same request */
export type ExplainRoute = (request: ExplainRequest) => Promise<Explained>;
