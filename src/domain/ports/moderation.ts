import type { AccountId, KeyId, ModelId } from "../ids.ts";
import type { TaskKind } from "../task/request.ts";

/** One text of a request. */
export interface ModeratedText {
  /** Path of its field, by our names: `prompt`, `storyboard[2].text`. */
  readonly field: string;
  readonly text: string;
}

/** What a check may know about a request. */
export interface ModeratedRequest {
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** At least one. */
  readonly texts: readonly ModeratedText[];
}

/** The verdict of a check on a request. */
export type CheckVerdict =
  | { readonly kind: "allowed" }
  /** `rule` names what was violated, for the operator: a place in the rules, or a category. It never contains part of a text. */
  | { readonly kind: "refused"; readonly rule?: string | undefined; readonly field?: string | undefined }
  /** The check cannot decide. `reason` says why, for the operator, as a clause to put after the check's name. */
  | { readonly kind: "outage"; readonly reason: string };

/** What happens to a request while a check cannot decide. */
export const ON_OUTAGE = ["refuse", "allow"] as const;
export type OnOutage = (typeof ON_OUTAGE)[number];

/** One of the operator's content checks. */
export interface Check {
  readonly name: string;
  readonly onOutage: OnOutage;
  /** The check asks no other service. It takes far less than a second and costs nothing. */
  readonly isQuick: boolean;
  /** The top-level fields it reads; all unless given. */
  readonly fields?: readonly string[] | undefined;
  /** Never throws. Returns no promise if it needs no time. `signal` aborts when nobody waits for the verdict any more. */
  readonly run: (
    request: ModeratedRequest,
    signal: () => AbortSignal,
  ) => CheckVerdict | Promise<CheckVerdict>;
}

/** The operator's checks, and which of them apply to which requests. */
export interface Moderation {
  readonly checks: ReadonlyMap<string, Check>;
  /** Names of the checks for models and keys that have no choice of their own. */
  readonly apply: readonly string[];
  /** Names of checks by ids of models, `*` standing for any characters. The first match counts. */
  readonly models: readonly (readonly [pattern: string, names: readonly string[]])[];
}
