import { afterAll } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { describeAccountStore } from "../../contracts/account-store.ts";
import { describeCallbackStore } from "../../contracts/callback-store.ts";
import { describeTaskStore } from "../../contracts/task-store.ts";
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
  describeCallbackStore(`callbacks in SQLite in ${where}`, make);
}
