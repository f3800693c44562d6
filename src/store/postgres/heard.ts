import type { Driver } from "./driver.ts";
import type { Session } from "./session.ts";

/** Three checks before others take this node for gone. */
const SOON_MS = 3_000;
/** A process that was suspended, or busy, checks once afterwards, and hears answers before the next check. */
const LOOKS = 5;

/**
 * Runs a statement aside that takes no time. If it has no answer soon, it is run again on a new connection; if that is answered, the
 * old connections lead nowhere, as behind a firewall that has forgotten them, and all are made anew. Otherwise the server is slow.
 */
export async function heardSoon<T>(
  driver: Pick<Driver, "aside" | "renew">,
  ask: (aside: Session) => Promise<T>,
): Promise<T> {
  const asked = ask(driver.aside);
  if (await isHeardSoon(asked)) return asked;
  driver.renew("aside");
  const answer = await ask(driver.aside);
  driver.renew("main");
  return answer;
}

/** Whether it ends soon, also with an error. */
async function isHeardSoon(asked: Promise<unknown>): Promise<boolean> {
  const ended = asked.then(
    () => true,
    () => true,
  );
  for (let looks = 0; looks < LOOKS; looks++) {
    const pause = Bun.sleep(SOON_MS / LOOKS).then(() => false);
    if (await Promise.race([ended, pause])) return true;
  }
  return false;
}
