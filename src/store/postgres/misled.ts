import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

const IS_STANDBY = statement<{ is_standby: 0 | 1 }>("select pg_is_in_recovery()::int as is_standby");
const LOOK_EVERY_MS = 1_000;

/**
 * Returns a function that leaves a standby, once a second at most. While a primary moves, its address may still lead to a server that
 * has become a standby. Connections made then stay as they are for ever, wherever the address leads later.
 */
export function prepareLeaveStandby(driver: Pick<Driver, "ask" | "renew">): () => void {
  let hasLooked = false;

  async function look(): Promise<void> {
    const found = await IS_STANDBY.get(driver);
    if (found?.is_standby !== 1) return;
    for (const pool of ["main", "aside"] as const) driver.renew(pool);
  }

  return () => {
    if (hasLooked) return;
    hasLooked = true;
    setTimeout(() => {
      hasLooked = false;
    }, LOOK_EVERY_MS).unref();
    // Whoever asked tries again.
    look().catch(() => {});
  };
}
