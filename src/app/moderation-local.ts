import type { Config } from "../config/config.ts";
import type { TriedCheck } from "../domain/moderation/tried-check.ts";
import type { Log } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { tryChecks } from "../service/try-checks.ts";
import { openModeration } from "./moderation.ts";

/**
 * Tries checks of the settings on a text, one after the other, as a server would.
 *
 * @param names those to try; all unless given
 * @throws ConfigError with everything for which one of these cannot be used
 */
export async function tryModeration(
  config: Config,
  text: string,
  { names, log, signal }: { names?: readonly string[]; log: Pick<Log, "warn">; signal: AbortSignal },
): Promise<readonly TriedCheck[]> {
  const clock = createSystemClock();
  const egress = createEgress({ allow: config.egress.allow });
  const moderation = await openModeration(config, { clock, egress, log }, names);
  return await tryChecks(moderation?.checks ?? new Map(), text, { clock, signal });
}
