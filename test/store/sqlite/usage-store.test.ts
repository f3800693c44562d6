import { afterAll } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { describeUsage } from "../../contracts/task-store-usage.ts";
import { countingTokens, temporaryDatabase } from "../../helpers/store.ts";

const removals: (() => void)[] = [];
afterAll(() => {
  for (const remove of removals) remove();
});

describeUsage("usage in SQLite in memory", () => openStore({ path: ":memory:", ids: countingTokens() }));
describeUsage("usage in SQLite in a file", () => {
  const { path, remove } = temporaryDatabase();
  removals.push(remove);
  return openStore({ path });
});
