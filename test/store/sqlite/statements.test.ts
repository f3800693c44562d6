import { expect, test } from "bun:test";
import { createCallbackStore } from "../../../src/store/sqlite/callback-store.ts";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { ACCOUNT, callbackId, NOW, taskId } from "../../helpers/store.ts";

test("whatever is asked of callbacks, no statement is prepared for it: each would stay in memory until the end", async () => {
  const connection = openConnection({ path: ":memory:" });
  applyMigrations(connection.db);
  const callbacks = createCallbackStore(connection);
  const all = { accountId: ACCOUNT, limit: 9 };
  const askAll = async () => {
    for (const filter of [
      all,
      { ...all, state: "failed" as const },
      { ...all, taskId: taskId(1) },
      { ...all, id: callbackId(1) },
      { ...all, from: 1, to: 2, after: callbackId(1) },
    ]) {
      await callbacks.list(filter);
      await callbacks.redeliver(filter);
    }
    await callbacks.byId(callbackId(1));
    await callbacks.attempts(callbackId(1));
    await callbacks.unfinished();
    await callbacks.owed();
    const limits = { total: 1, perAccount: 1, perHost: 1 };
    await callbacks.claim({ now: NOW, leaseMs: 1, limits, underWay: [] });
  };
  // The first calls prepare what the later ones use.
  await askAll();
  let prepared = 0;
  const { prepare } = connection.db;
  connection.db.prepare = ((...given: Parameters<typeof prepare>) => {
    prepared += 1;
    return prepare(...given);
  }) as typeof prepare;
  await askAll();
  expect(prepared).toBe(0);
  await connection.stop();
});
