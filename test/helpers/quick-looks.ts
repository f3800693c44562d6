import type { SteadyClock } from "../../src/domain/ports/runtime.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { LOOK_EVERY_MS } from "../../src/toolkit/own-files.ts";

const QUICK_MS = 10;

/** The system's clock, but a service that has it looks at its own models and providers much more often. */
export function quickLooks(): SteadyClock {
  const clock = createSystemClock();
  return {
    ...clock,
    after: (delayMs, run) => clock.after(delayMs === LOOK_EVERY_MS ? QUICK_MS : delayMs, run),
  };
}
