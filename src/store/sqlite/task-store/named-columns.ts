import type { AccountId, KeyId, ModelId } from "../../../domain/ids.ts";
import { ACCOUNT_ID } from "../account-store/account-table.ts";
import { textOf } from "../label-table.ts";

/** What the numbers in a row stand for. */
export interface Named {
  readonly account_id: AccountId;
  readonly key_id: KeyId;
  readonly model: ModelId;
  readonly whole_origin: string | null;
  readonly whole_quote: string;
  readonly whole_usage: string | null;
  readonly whole_charge: string | null;
}

/** Each column of `Named`, as SQL. */
export const NAMED: { readonly [Column in keyof Named]: string } = {
  account_id: ACCOUNT_ID,
  key_id: textOf("key_label"),
  model: textOf("model_label"),
  whole_origin: `coalesce(origin, ${textOf("origin_label")})`,
  whole_quote: `coalesce(quote, ${textOf("quote_label")})`,
  whole_usage: `coalesce(usage, ${textOf("usage_label")})`,
  whole_charge: `coalesce(charge, ${textOf("charge_label")})`,
};
