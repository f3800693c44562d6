import { afterAll, describe, expect, test } from "bun:test";
import { createSeal } from "../../../src/runtime/seal.ts";
import { openSharedInspection } from "../../../src/store/postgres/inspection.ts";
import { openStore } from "../../../src/store/postgres/open.ts";
import { openEmptyPostgres, stopPostgres, urlOfPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  beginOne,
  bySystem,
  countingTokens,
  LANE,
  NOW,
  newKey,
} from "../../helpers/store.ts";

const TIMES = { now: NOW, staleBefore: NOW + 3_600_000, failedSince: NOW, expiresBefore: NOW + 100 };
const sealWith = (key: string) => createSeal({ key, file: "/nonexistent/secret.key" });

describe.skipIf(!CAN_TEST_POSTGRES)("looking at a database that nodes share", () => {
  afterAll(stopPostgres);

  test("counts what is live and stale, and names keys that end or cannot be opened", async () => {
    await (await openEmptyPostgres()).stop();
    const url = await urlOfPostgres();
    const store = await openStore({ url, ids: countingTokens(), seal: sealWith("ours") });
    await addAccount(store, { id: ACCOUNT });
    const keys = { web: NOW + 99, lasting: NOW + 100, over: NOW };
    for (const [i, [name, expiresAt]] of Object.entries(keys).entries()) {
      const key = newKey({ number: i + 1, name, expiresAt, signsCallbacks: i === 1 });
      await store.accounts.createKey(key, i === 1 ? `whsec_${"A".repeat(32)}` : undefined, bySystem());
    }
    await admit(store, { number: 1 });
    await beginOne(store);
    await admit(store, { number: 2 });
    await store.time.beat(NOW + 7);
    const down = {
      lane: LANE,
      upstreamModel: "m",
      kind: "open",
      detail: "503",
      since: NOW,
      times: 1,
    } as const;
    await store.routes.set(down);
    await store.routes.set({ ...down, upstreamModel: "n", kind: "blocked" });

    const inspection = openSharedInspection(url);
    const looked = await inspection.look();
    expect(looked).toMatchObject({ schema: { pending: [] }, nodes: [] });
    expect(looked.version).toMatch(/^\d+/);
    const inspected = {
      ...{ staleLeases: 1, liveTasks: 2, overdueCallbacks: 0, failedCallbacks: 0, lastBeat: NOW + 7 },
      ...{
        expiringKeys: ["web"],
        lockedKeys: [],
        routesDown: [down],
        liveLanes: [{ lane: LANE, tasks: 2, held: 80_000 }],
      },
    };
    expect(await inspection.inspect(TIMES, sealWith("ours"))).toMatchObject(inspected);
    expect((await inspection.inspect(TIMES, sealWith("another"))).lockedKeys).toEqual(["lasting"]);
    expect((await inspection.audit()).differences).toEqual([]);
    for (const { stop } of [inspection, store]) await stop();
  });
});
