import type { AccountId, KeyId, ModelId } from "../../src/domain/ids.ts";
import type { Check, CheckVerdict, ModeratedRequest } from "../../src/domain/ports/moderation.ts";

/** A request with these texts. */
export function requestOf(...texts: string[]): ModeratedRequest {
  return {
    ...{ kind: "image", model: "fox" as ModelId, accountId: "acc_1" as AccountId, keyId: "key_1" as KeyId },
    texts: texts.map((text, i) => ({ field: i === 0 ? "prompt" : `text_${i}`, text })),
  };
}

/** What a check says of a request with these texts. */
export async function ask(check: Check, ...texts: string[]): Promise<CheckVerdict> {
  return check.run(requestOf(...texts), () => new AbortController().signal);
}

/** The system's timers. */
export function after(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}

/** Timers that pass when they are told to. */
export function handTimers() {
  const runs = new Set<() => void>();
  return {
    after(_delayMs: number, run: () => void): () => void {
      runs.add(run);
      return () => runs.delete(run);
    },
    pass(): void {
      for (const run of runs) run();
    },
    waiting: () => runs.size,
  };
}
