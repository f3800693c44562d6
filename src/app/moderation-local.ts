import type { Config } from "../config/config.ts";
import type { AccountId, KeyId, ModelId } from "../domain/ids.ts";
import type { Check, CheckVerdict } from "../domain/ports/moderation.ts";
import type { Log } from "../domain/ports/runtime.ts";
import { createEgress } from "../egress/egress.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { openModeration } from "./moderation.ts";

/** What a check says of a text, and how long it took. */
export type TriedCheck = Pick<Check, "name" | "onOutage"> & {
  readonly verdict: CheckVerdict;
  readonly ms: number;
};

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
  const texts = [{ field: "prompt", text }];
  // A program that is asked sees that nobody's request is meant.
  const nobody = { model: "test" as ModelId, accountId: "test" as AccountId, keyId: "test" as KeyId };
  const tried: TriedCheck[] = [];
  for (const { name, onOutage, run } of moderation?.checks.values() ?? []) {
    const startedAt = clock.elapsed();
    const verdict = await run({ kind: "image", ...nobody, texts }, () => signal);
    signal.throwIfAborted();
    tried.push({ name, onOutage, verdict, ms: clock.elapsed() - startedAt });
  }
  return tried;
}
