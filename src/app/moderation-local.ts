import type { Config } from "../config/config.ts";
import type { TriedCheck } from "../domain/moderation/tried-check.ts";
import type { Log } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { tryChecks } from "../service/try-checks.ts";
import { openModeration } from "./moderation.ts";

/**
 * Runs the content checks of the settings on a text, one after the other, as a server would.
 *
 * @param names the checks to run; all unless given
 * @throws ConfigError that lists every reason why one of them cannot be used
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
