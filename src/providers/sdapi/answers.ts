import type { PollResult } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";

/** How a request ended that was sent in this process. `cut`: no answer will come, and the server may have taken it. */
export type Ending = PollResult | { readonly kind: "cut" };

/** The answers that this process awaits, or has and was not asked for yet. */
export interface Answers {
  /** Follows a request until its answer has come. */
  follow(id: string, answer: Promise<Ending>): void;
  /** Forgets a request whose submission has failed. */
  forget(id: string): void;
  /** `unknown`: it was sent by another process, or long ago. */
  stateOf(id: string): "awaited" | "answered" | "cut" | "unknown";
  /** The answer that has come. It is kept for a while in case it is asked for again. */
  tell(id: string): PollResult | undefined;
  /** Whether the answer to another request is awaited. */
  awaitsOther(id: string): boolean;
}

/** An answer that nobody has asked for is dropped after so long: its task has ended. */
const KEPT_MS = 600_000;
/** Answers that were asked for, and are kept. */
const MOST_TOLD = 8;

export function createAnswers(clock: Pick<Clock, "after">): Answers {
  const jobs = new Map<string, { ending?: Ending }>();
  const told: string[] = [];
  return {
    follow(id, answer) {
      const job: { ending?: Ending } = {};
      jobs.set(id, job);
      void answer.then((ending) => {
        job.ending = ending;
        clock.after(KEPT_MS, () => {
          if (!told.includes(id)) jobs.delete(id);
        });
      });
    },
    forget: (id) => void jobs.delete(id),
    stateOf(id) {
      const job = jobs.get(id);
      if (job === undefined) return "unknown";
      if (job.ending === undefined) return "awaited";
      return job.ending.kind === "cut" ? "cut" : "answered";
    },
    tell(id) {
      const ending = jobs.get(id)?.ending;
      if (ending === undefined || ending.kind === "cut") return undefined;
      if (!told.includes(id)) told.push(id);
      if (told.length > MOST_TOLD) jobs.delete(told.shift() ?? id);
      return ending;
    },
    awaitsOther: (id) => [...jobs].some(([other, { ending }]) => other !== id && ending === undefined),
  };
}
