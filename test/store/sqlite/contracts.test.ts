import { afterAll } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeAccountMoney } from "../../contracts/account-store-money.ts";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { describePriceStore } from "../../contracts/price-store.ts";
import { describeTaskStore } from "../../contracts/task-store.ts";
import { describeTimeStore } from "../../contracts/time-store.ts";
import { countingTokens, temporaryDatabase } from "../../helpers/store.ts";

const removals: (() => void)[] = [];
afterAll(() => {
  for (const remove of removals) remove();
});

const inMemory = () => openStore({ path: ":memory:", ids: countingTokens() });
const inFile = () => {
  const { path, remove } = temporaryDatabase();
  removals.push(remove);
  return openStore({ path });
};

for (const [where, make] of [
  ["memory", inMemory],
  ["file", inFile],
] as const) {
  describeTaskStore(`tasks in SQLite in ${where}`, make);
  describeAccountStore(`accounts in SQLite in ${where}`, make);
  describeAccountMoney(`money of accounts in SQLite in ${where}`, make);
  describePriceStore(`prices in SQLite in ${where}`, make);
  describeCallbackStore(`callbacks in SQLite in ${where}`, make);
  describeTimeStore(`times in SQLite in ${where}`, make);
}
