import type { ModelId } from "../ids.ts";
import type { PriceRule } from "../model/model.ts";

/** A price that an operator set in place of a model's own. */
export interface PriceOverride {
  readonly model: ModelId;
  readonly rule: PriceRule;
  readonly setAt: number;
  /** Why, for people. */
  readonly reason: string;
}

/** Prices set by the operator. Every method is one transaction. */
export interface PriceStore {
  /**
   * The rule set for a model, if there is one. Costs no query when warm, and is never more than a second behind a change made
   * by another process; a change made by this one shows at once.
   */
  rule(model: ModelId, now: number): PriceRule | undefined;
  /** By model id. */
  overrides(): Promise<PriceOverride[]>;
  set(override: PriceOverride): Promise<void>;
  /** @returns whether there was one */
  remove(model: ModelId): Promise<boolean>;
}
