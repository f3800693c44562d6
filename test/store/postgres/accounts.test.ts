import { afterAll, describe } from "bun:test";
import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeChoiceStore } from "../../contracts/choice-store.ts";
import { describeImportStore } from "../../contracts/import-store.ts";
import { describePriceStore } from "../../contracts/price-store.ts";
import { describeSessionStore } from "../../contracts/session-store.ts";
import { CAN_TEST_POSTGRES, openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import type { StoreUnderTest } from "../../helpers/store.ts";

// Until the store has all ports: the suites here use those that are there.
const open = async () => (await openEmptyPostgres()) as unknown as StoreUnderTest;

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeAccountStore("AccountStore", open);
  describeChoiceStore("ChoiceStore", open);
  describeImportStore("ImportStore", open);
  describePriceStore("PriceStore", open);
  describeSessionStore("SessionStore", open);
});
