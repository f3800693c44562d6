import { type PollResult, ProviderError, type Tested } from "../../src/domain/ports/provider.ts";
import {
  failedJob,
  meaningOfError,
  meaningOfStatus,
  refusedSubmission,
  unansweredQuestion,
  unansweredSubmission,
  unusableAnswer,
} from "../../src/providers/kit/classify.ts";
import { NoAnswer } from "../../src/providers/kit/http.ts";
import { type Meaning, type Refusal, refusedByQuestion } from "../../src/providers/kit/refusal.ts";
import type { Dice } from "./dice.ts";
import type { Mood } from "./routes-plan.ts";

const SECOND = 1_000;

/** What an upstream does with a submission. */
export interface Reaction {
  readonly isTaken: boolean;
  readonly afterMs: number;
  /** Throws instead of an answer, as an adapter would. */
  readonly trouble?: (() => never) | undefined;
  /** It is a fault of the upstream, by which its breaker opens. */
  readonly isFault?: boolean;
  /** The upstream may have taken it, and nothing in the answer says so. */
  readonly isLost?: boolean;
  /** It refuses the content. */
  readonly isModeration?: boolean;
}

type Reacting = (dice: Dice) => Reaction;

const quick = (dice: Dice) => dice.between(20, 300);
const taken: Reacting = (dice) => ({ isTaken: true, afterMs: quick(dice) });

/** Refuses for certain, with a status and perhaps words of its own. */
function refuses(status: number, more: { words?: string; retryMs?: (dice: Dice) => number } = {}): Reacting {
  const meaning =
    more.words === undefined
      ? meaningOfStatus(status)
      : meaningOfError(status, { isApplications: true, message: more.words });
  return (dice) => {
    const refusal: Refusal = {
      ...{ meaning, status, detail: `upstream answered ${status}` },
      retryAfterMs: more.retryMs?.(dice),
    };
    return {
      ...{ isTaken: false, afterMs: quick(dice), isFault: status === 500 },
      trouble: () => {
        throw refusedSubmission(refusal);
      },
    };
  };
}

/** The answer says nothing of the job, which was taken as often as told. */
function says(trouble: () => never, takenPart: number, afterMs: (dice: Dice) => number): Reacting {
  return (dice) => ({
    ...{ isTaken: dice.chance(takenPart), afterMs: afterMs(dice), trouble },
    ...{ isFault: true, isLost: true },
  });
}

const unsent = (reason: string, afterMs: (dice: Dice) => number): Reacting => {
  return (dice) => ({
    ...{ isTaken: false, afterMs: afterMs(dice), isFault: true },
    trouble: () => unansweredSubmission(new NoAnswer(true, reason)),
  });
};
const unusable = () => {
  throw unusableAnswer("upstream answered 200 without an operation");
};
const unclear = (status: number) => () => {
  throw refusedSubmission({ meaning: meaningOfStatus(status), status, detail: `a proxy answered ${status}` });
};
const lost = (reason: string, isLate = false) => {
  return () => unansweredSubmission(new NoAnswer(false, reason, isLate));
};
const askedMs = (dice: Dice) => dice.between(1, 20) * SECOND;

/** What submissions come to, by the mood of the account. */
export const REACTIONS: Readonly<Record<Mood, Reacting>> = {
  well: taken,
  wordy: taken,
  failing: taken,
  late: (dice) => ({ isTaken: true, afterMs: dice.between(5, 25) * SECOND }),
  losing: says(lost("ECONNRESET"), 0.5, quick),
  silent: says(lost("no answer within 30 s", true), 1, () => 30 * SECOND),
  gateway: says(unclear(504), 1, () => 60 * SECOND),
  limited: refuses(429),
  paced: refuses(429, { retryMs: askedMs }),
  busy: refuses(503, { retryMs: askedMs }),
  broken: refuses(500, { words: "internal error" }),
  proxied: says(unclear(500), 0.5, quick),
  html: says(unusable, 0.5, quick),
  cut: says(unusable, 1, quick),
  dead: (dice) =>
    dice.chance(0.5)
      ? unsent("ENOTFOUND", quick)(dice)
      : unsent("no connection within 15 s", () => 15 * SECOND)(dice),
  endless: says(lost("the answer is larger than 33554432 bytes"), 0.5, () => 4 * SECOND),
  prudish: (dice) => (dice.chance(0.5) ? moderates(dice) : taken(dice)),
  gone: unsent("ECONNREFUSED", () => 2),
  keyless: refuses(401),
  modelless: refuses(404),
  spent: (dice) => refuses(402, dice.chance(0.5) ? { retryMs: askedMs } : {})(dice),
};

export const moderates: Reacting = (dice) => ({
  ...{ isTaken: false, afterMs: quick(dice), isModeration: true },
  trouble: () => {
    throw refusedSubmission({ meaning: "moderated", status: 400, detail: "upstream refused the content" });
  },
});

/** A job that ended without output and without a charge. */
export function failedForNothing(dice: Dice): PollResult {
  const meaning: Meaning = dice.pick<Meaning>(["busy", "broken"]);
  return failedJob({ meaning, status: 200, detail: `the job ended: ${meaning}` });
}

export function moderatedJob(): PollResult {
  return failedJob({ meaning: "moderated", status: 200, detail: "the job ended: moderated" });
}

/** What a question about a job comes to besides its answer: a trouble to throw, and how long that takes. */
export function questioned(mood: Mood, dice: Dice): { afterMs: number; trouble?: () => never } {
  const noWord = (status: number, retryAfterMs?: number) => ({
    afterMs: dice.between(10, 100),
    trouble: (): never => {
      throw new ProviderError("retry", "UPSTREAM_ERROR", `upstream answered ${status}`, {
        retryAfterMs,
        refused: refusedByQuestion({ meaning: meaningOfStatus(status), status }),
        isTooOften: status === 429,
      });
    },
  });
  const noAnswer = (reason: string, afterMs: number, isLate = false) => ({
    afterMs,
    trouble: (): never => unansweredQuestion(new NoAnswer(false, reason, isLate)),
  });
  switch (mood) {
    case "losing":
      return dice.chance(0.5) ? noAnswer("ECONNRESET", 50) : { afterMs: 50 };
    case "silent":
      return noAnswer("no answer within 30 s", 30 * SECOND, true);
    case "late":
      return { afterMs: dice.between(5, 25) * SECOND };
    case "gateway":
      return noWord(504);
    case "limited":
      return dice.chance(0.5) ? noWord(429) : { afterMs: 50 };
    case "paced":
      return dice.chance(0.5) ? noWord(429, askedMs(dice)) : { afterMs: 50 };
    case "proxied":
      return noWord(500);
    case "html":
    case "cut":
      return noWord(200);
    case "endless":
      return noAnswer("the answer is larger than 33554432 bytes", 4 * SECOND);
    case "dead":
      return noAnswer("ENOTFOUND", 20);
    case "gone":
      return noAnswer("ECONNREFUSED", 2);
    case "keyless":
      return noWord(401);
    default:
      return { afterMs: dice.between(10, 100) };
  }
}

/** What the call comes to that proves a key and makes nothing. */
export function tested(mood: Mood): Tested {
  if (mood === "keyless") return { kind: "refused", detail: "upstream answered 401" };
  if (mood === "gone" || mood === "dead") return { kind: "unreachable", detail: "ECONNREFUSED" };
  return { kind: "ok" };
}
