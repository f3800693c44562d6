import type { Principal } from "../../src/domain/access/account.ts";
import { ONE } from "../../src/domain/money/multiplier.ts";
import { ACCOUNT, keyId } from "./store.ts";

/** The caller wherever a test does not care who: key 1 of `ACCOUNT`, which may do everything. */
export const PRINCIPAL: Principal = {
  accountId: ACCOUNT,
  keyId: keyId(1),
  keyName: "test",
  policy: {},
  priceMultiplier: ONE,
};
