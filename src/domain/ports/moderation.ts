import type { AccountId, KeyId, ModelId } from "../ids.ts";
import type { TaskKind } from "../task/request.ts";

/** One text of a request. */
export interface ModeratedText {
  /** Path of its field, by our names: `prompt`, `storyboard[2].text`. */
  readonly field: string;
  readonly text: string;
}

/** What a check may know of a request. */
export interface ModeratedRequest {
  readonly kind: TaskKind;
  readonly model: ModelId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** At least one. */
  readonly texts: readonly ModeratedText[];
}

/** What a check says of a request. */
export type CheckVerdict =
  | { readonly kind: "allowed" }
  /** `rule` names what was broken, for the operator: a place in the rules, a category. Never part of a text. */
  | { readonly kind: "refused"; readonly rule?: string | undefined; readonly field?: string | undefined }
  /** It cannot tell. `reason` says why, for the operator, as a clause to put after the check's name. */
  | { readonly kind: "outage"; readonly reason: string };

/** What becomes of a request while a check cannot tell. */
export const ON_OUTAGE = ["refuse", "allow"] as const;
export type OnOutage = (typeof ON_OUTAGE)[number];

/** One of the operator's checks of what callers ask for. */
export interface Check {
  readonly name: string;
  readonly onOutage: OnOutage;
  /** Asks nobody else: it takes far less than a second, and costs nothing. */
  readonly isQuick: boolean;
  /** The top-level fields it reads; all unless given. */
  readonly fields?: readonly string[] | undefined;
  /** Never throws. Answers without a promise where it needs no time. `signal` aborts when nobody waits for it any more. */
  readonly run: (
    request: ModeratedRequest,
    signal: () => AbortSignal,
  ) => CheckVerdict | Promise<CheckVerdict>;
}

/** The operator's checks, and which of them requests go through. */
export interface Moderation {
  readonly checks: ReadonlyMap<string, Check>;
  /** Names of checks for models and keys of which nothing else is said. */
  readonly apply: readonly string[];
  /** Names of checks by ids of models, `*` standing for any characters. The first that fits counts. */
  readonly models: readonly (readonly [pattern: string, names: readonly string[]])[];
}
