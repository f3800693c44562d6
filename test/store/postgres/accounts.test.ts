import { afterAll, describe } from "bun:test";
import { describeAccountLists } from "../../contracts/account-lists.ts";
import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeAccountMoney } from "../../contracts/account-store-money.ts";
import { describeChoiceStore } from "../../contracts/choice-store.ts";
import { describeImportStore } from "../../contracts/import-store.ts";
import { describePriceStore } from "../../contracts/price-store.ts";
import { describeSessionStore } from "../../contracts/session-store.ts";
import { describeTimeStore } from "../../contracts/time-store.ts";
import { describeTrailStore } from "../../contracts/trail-store.ts";
import { openEmptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const open = () => openEmptyPostgres();

describe.skipIf(!CAN_TEST_POSTGRES)("on a PostgreSQL server", () => {
  afterAll(stopPostgres);
  describeAccountStore("AccountStore", open);
  describeAccountLists("AccountStore, lists", open);
  describeAccountMoney("AccountStore, money", open);
  describeChoiceStore("ChoiceStore", open);
  describeImportStore("ImportStore", open);
  describePriceStore("PriceStore", open);
  describeSessionStore("SessionStore", open);
  describeTimeStore("TimeStore", open);
  describeTrailStore("TrailStore", open);
});
