import type { JsonObject } from "../../src/domain/json.ts";
import { EXIT } from "../exit-codes.ts";
import type { Failure } from "../failure.ts";
import { type Attempt, interrupted, type RetryOptions } from "./retry.ts";

/** A server that takes longer to answer counts as unreachable. */
const ANSWER_WITHIN_MS = 5_000;

export interface Poll extends Pick<RetryOptions, "timing" | "signal"> {
  readonly intervalMs: number;
  /** Asks once, until the signal ends it. */
  readonly ask: (signal: AbortSignal) => Promise<Attempt<{ readonly data: JsonObject }>>;
  readonly onAnswer: (data: JsonObject) => void;
  /** Nobody answered, or the server could not; it is asked again. */
  readonly onTrouble: (failure: Failure) => void;
}

/**
 * Repeats a request until the signal ends it. The first answer must come; a server that becomes unreachable later is asked until it
 * is back.
 *
 * @throws Failure for a refusal that asking again does not change, or for the first answer that does not come
 */
export async function pollForever({ timing, signal, ...poll }: Poll): Promise<never> {
  for (let answers = 0; ; ) {
    const startedAt = timing.now();
    const limit = AbortSignal.timeout(Math.max(ANSWER_WITHIN_MS, poll.intervalMs));
    const result = await poll.ask(AbortSignal.any([signal, limit]));
    if (signal.aborted) throw interrupted();
    if (result.ok) {
      answers += 1;
      poll.onAnswer(result.value.data);
    } else if (answers === 0 || isFinal(result.failure)) throw result.failure;
    else poll.onTrouble(result.failure);
    await timing.sleep(Math.max(0, poll.intervalMs - (timing.now() - startedAt)), signal);
  }
}

/** A token that was revoked, or a server that has no such path any more. */
function isFinal({ exitCode }: Failure): boolean {
  return exitCode === EXIT.auth || exitCode === EXIT.notFound;
}
