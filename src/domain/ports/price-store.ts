import type { Act } from "../access/actor.ts";
import type { ModelId } from "../ids.ts";
import type { PriceRule } from "../model/model.ts";

/** A price that an operator has set for a model. */
export interface PriceOverride {
  readonly model: ModelId;
  readonly rule: PriceRule;
  readonly setAt: number;
  /** Why, for people. */
  readonly reason: string;
}

/** Prices set by the operator. Every method is one transaction. A method that gets an act also writes an entry of the trail. */
export interface PriceStore {
  /**
   * The rule set for a model, if any. There are few, so all are kept in memory. Shows a change by another process within a
   * second, and one by this process at once.
   */
  rule(model: ModelId, now: number): PriceRule | undefined;
  /** By model id. */
  overrides(): Promise<PriceOverride[]>;
  set(override: PriceOverride, act: Act): Promise<void>;
  /** @returns whether the model had one */
  remove(model: ModelId, act: Act): Promise<boolean>;
}
