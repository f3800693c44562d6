import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeAccountMoney } from "../../contracts/account-store-money.ts";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { describePriceStore } from "../../contracts/price-store.ts";
import { describeTaskStore } from "../../contracts/task-store.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { describeTimeStore } from "../../contracts/time-store.ts";
import { openEmptyStore } from "../../helpers/open-store.ts";

const open = () => openEmptyStore();

describeTaskStore("tasks in SQLite", open);
describeAccountStore("accounts in SQLite", open);
describeAccountMoney("money of accounts in SQLite", open);
describePriceStore("prices in SQLite", open);
describeCallbackStore("callbacks in SQLite", open);
describeTimeStore("times in SQLite", open);
describeUsage("usage in SQLite", open);
