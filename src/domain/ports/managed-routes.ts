import type { LaneId, ModelId, ProviderId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { RoutePolicy } from "../model/route-policy.ts";
import type { Standing } from "../model/standing.ts";
import type { Micros } from "../money/money.ts";

/** An account that is switched on. */
export interface RouteAccount {
  readonly provider: ProviderId;
  readonly lane: LaneId;
  /** Most of its tasks under way. */
  readonly concurrency?: number | undefined;
}

/** What a running server knows of a route at an account. */
export interface RouteFigures {
  /** Submissions that the account takes in a minute; absent where nothing limits them. */
  readonly perMinute?: number | undefined;
  /** Of the tasks that completed in the last hour; absent for too few. */
  readonly p50Ms?: number | undefined;
  readonly p95Ms?: number | undefined;
}

/** A way that tasks can take: what an account calls a model, as its operator sees it. */
export interface ManagedWay extends RouteAccount, RouteFigures {
  readonly upstreamModel: string;
  /** Ids of the models that have a route to it. */
  readonly models: readonly ModelId[];
  readonly standing: Standing;
  /** Tasks of the whole account that were sent and have not ended. */
  readonly underWay: number;
  /** What the attempts that ended there today (UTC) cost the operator, as far as it is known. */
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
   * Gives the target no more tasks; what is under way goes on. Resolves when that is stored.
   *
   * @param reason for people
   * @returns the ways that it concerns, as they are now
   * @throws AppError `not_found` for what is no provider, account or model of one
   */
  block(target: RouteTarget, reason?: string): Promise<readonly ManagedWay[]>;
  /** Forgets all that is known against the target. @returns and throws as `block` */
  allow(target: RouteTarget): Promise<readonly ManagedWay[]>;
}

/** A request whose way is asked for. */
export interface ExplainRequest {
  readonly model: string;
  /** The create body; prompt and media may be left out. */
  readonly request?: JsonObject | undefined;
  /** As the headers X-Route-Policy and X-Route have it. */
  readonly policy?: string | undefined;
  readonly route?: string | undefined;
  /** Id or name of the key that would send it. */
  readonly key?: string | undefined;
}

/**
 * What becomes of a way. `chosen` the task is sent here · `next` it is sent here where the chosen one fails · `standby` it could be sent
 * here · `cannot` the route cannot do the request exactly · `off` no account is switched on · `not_asked_for` the request names another
 * one; else what its standing is.
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
  /** Absent where no account of the provider is switched on. */
  readonly lane?: LaneId | undefined;
  readonly upstreamModel: string;
  readonly verdict: Verdict;
  /** The field that is in the way of `cannot`. */
  readonly field?: string | undefined;
  /** Why, for people. */
  readonly why?: string | undefined;
  readonly standing: Standing;
  /** The most that the request costs the operator there; absent where that is unknown. */
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

/** Says which way a request would take now, and why. Makes nothing. @throws AppError as an estimate of the same request */
export type ExplainRoute = (request: ExplainRequest) => Promise<Explained>;
