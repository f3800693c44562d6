import { expect } from "bun:test";
import type { Locator } from "playwright-core";

/** How long is waited for anything, in ms: below the limit of a test, and far beyond what a slow machine takes. */
export const WAIT_MS = 45_000;
/** The limit of a test that goes from screen to screen, and has each looked at as a whole, in ms. */
export const MANY_SCREENS_MS = 300_000;
const LOOK_AGAIN_MS = 25;

/** Looks again and again until it finds what is expected, and fails with what it found last. */
export async function until(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (let found = await look(); ; found = await look()) {
    if (Bun.deepEquals(found, expected) || performance.now() > deadline) {
      expect(found).toEqual(expected);
      return;
    }
    await Bun.sleep(LOOK_AGAIN_MS);
  }
}

/** The first of all that is found and is in sight: what is hidden, such as in a closed part, counts for nothing. */
export function seen(locator: Locator): Locator {
  return locator.filter({ visible: true }).first();
}
