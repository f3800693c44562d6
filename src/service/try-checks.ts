import { mustBe } from "../domain/errors.ts";
import type { AccountId, KeyId, ModelId } from "../domain/ids.ts";
import type { TriedCheck } from "../domain/moderation/tried-check.ts";
import type { Moderation } from "../domain/ports/moderation.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/**
 * Runs checks on a text, one after the other, as for a request.
 *
 * @param names the checks to run; all unless given
 * @throws AppError `invalid_request` for a name that no check has; the abort reason of `signal`
 */
export async function tryChecks(
  checks: Moderation["checks"],
  text: string,
  options: {
    readonly names?: readonly string[] | undefined;
    clock: Pick<Clock, "elapsed">;
    signal: AbortSignal;
  },
): Promise<readonly TriedCheck[]> {
  const { names = [...checks.keys()], clock, signal } = options;
  const texts = [{ field: "prompt", text }];
  // These ids show a check's program that this is no caller's request.
  const nobody = { model: "test" as ModelId, accountId: "test" as AccountId, keyId: "test" as KeyId };
  const tried: TriedCheck[] = [];
  for (const wanted of names) {
    const check = checks.get(wanted);
    if (check === undefined) {
      const there = checks.size === 0 ? "none are set up" : `there are ${[...checks.keys()].join(", ")}`;
      throw mustBe("checks", { rule: `hold names of checks in the server's settings (${there})` }, wanted);
    }
    const { name, onOutage, run } = check;
    const startedAt = clock.elapsed();
    const verdict = await run({ kind: "image", ...nobody, texts }, () => signal);
    signal.throwIfAborted();
    tried.push({ name, onOutage, verdict, ms: clock.elapsed() - startedAt });
  }
  return tried;
}
