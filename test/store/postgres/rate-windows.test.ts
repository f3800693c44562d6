import { afterAll, describe, expect, test } from "bun:test";
import type { RateLimiter } from "../../../src/domain/ports/rate-limiter.ts";
import { openDriver } from "../../../src/store/postgres/driver.ts";
import { createSharedRateLimiter } from "../../../src/store/postgres/rate-limiter.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";

const KEY = "key_1" as Parameters<RateLimiter["take"]>[0];
const refusing: RateLimiter = {
  take: () => Promise.reject(new Error("It counts alone.")),
  peek: () => Promise.reject(new Error("It counts alone.")),
};

describe.skipIf(!CAN_TEST_POSTGRES)("windows of limits that nodes share", () => {
  afterAll(stopPostgres);

  test("end within a minute, though the clock of the database was set back", async () => {
    const driver = openDriver({ url: await emptyPostgres(), most: 1 });
    const clock = { now: () => 0, elapsed: () => 0, after: () => () => {} };
    const limiter = createSharedRateLimiter(driver, { clock, nodes: () => 1, alone: refusing });
    const hour = "(extract(epoch from clock_timestamp()) * 1000)::bigint + 3600000";
    await askPostgres(`insert into rate_window (name, used, ends_at) values ('${KEY}', 20, ${hour})`);
    expect(await limiter.peek(KEY, 20)).toEqual({ limit: 20, remaining: 20 });
    const taken = await limiter.take(KEY, 20);
    expect(taken).toMatchObject({ isAllowed: true, remaining: 19 });
    expect(taken.resetsInMs).toBeLessThanOrEqual(60_000);
    await driver.close();
  });
});
