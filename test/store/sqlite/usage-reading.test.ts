import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { openStore } from "../../../src/store/open.ts";
import { openForReading } from "../../../src/store/sqlite/connection.ts";
import { prepareUsageReading } from "../../../src/store/usage-reading.ts";
import { CHANGES, describeUsagePages, fillPages, QUERIES } from "../../contracts/usage-pages.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { countingTokens } from "../../helpers/store.ts";

async function open(rest: () => Promise<void> = async () => {}) {
  const { path, remove } = migratedFile();
  const store = openStore({ path, ids: countingTokens() });
  const reader = openForReading(path);
  return {
    ...{ store, report: prepareUsageReading(reader, rest) },
    async tamper(...statements: readonly string[]) {
      const db = new Database(path);
      db.run("drop trigger if exists task_end_is_final");
      db.run("drop trigger if exists ledger_entry_is_not_changed");
      for (const statement of statements) db.run(statement);
      db.close();
    },
    // The next number follows the highest one.
    numberOn: async () => {},
    async stop() {
      reader.stop();
      await store.stop();
      remove();
    },
  };
}

describeUsagePages("pages of usage in SQLite", open);

test.each(CHANGES)("a report says what is true in one moment, whenever %s", async (_, change) => {
  for (let before = 0, isChanged = true; isChanged; before += 1) {
    let pauses = 0;
    const { store, report, ...opened } = await open(async () => {
      if (pauses === before) await change(store);
      pauses += 1;
    });
    await fillPages({ store, ...opened });
    const [first = { from: 0, to: 0, by: "day" }] = QUERIES;
    const { lines } = await report(first);
    isChanged = pauses > before;
    expect(lines).toEqual(await store.usage.report(first));
    await opened.stop();
    expect(before).toBeLessThan(9);
  }
});
