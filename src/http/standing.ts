import type { Principal } from "../domain/access/account.ts";
import { type AtHand, whenAtHand } from "../domain/at-hand.ts";
import { AppError } from "../domain/errors.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/** Whether an admitted caller may still be answered, for answers that take long. */
export interface Standing<Caller = Principal> {
  /** The endpoint's path. */
  readonly path: string;
  /** Why the caller may no longer be answered; undefined while it may be. */
  refusal(): AppError | undefined;
  /** The same, but checks only if the request has taken long. */
  lateRefusal(): AppError | undefined;
  /** Calls `listener` within about a second of a refusal, possibly more than once, until the returned function is called. */
  onRefused(listener: () => void): () => void;
  /** The same caller with one more requirement. @param check throws AppError if the caller lacks it */
  needing(check: (caller: Caller) => void): Standing<Caller>;
}

/** How often waiting callers are checked. The store notices a change by another process within half a second. */
const LOOK_EVERY_MS = 400;

/** For answers that do not wait, a check this recent is not repeated. */
const FRESH_MS = 500;

/** Calls `look` about every 400 ms, until the returned function is called. */
type Look = (look: () => void) => () => void;

/** Checks all waiting callers on one timer, which runs only while somebody waits. */
function createLooks({ clock }: { readonly clock: Pick<Clock, "after"> }): Look {
  const looks = new Set<() => void>();
  let isLooking = false;

  function later(): void {
    isLooking = looks.size > 0;
    if (isLooking) clock.after(LOOK_EVERY_MS, lookAtAll);
  }

  function lookAtAll(): void {
    for (const look of looks) look();
    later();
  }

  return (look) => {
    looks.add(look);
    if (!isLooking) later();
    return () => void looks.delete(look);
  };
}

/** A class, because every request with a key has one and hardly any uses it. */
class Checked<Caller> implements Standing<Caller> {
  constructor(
    private readonly deps: { readonly clock: Pick<Clock, "elapsed">; readonly look: Look },
    readonly path: string,
    private readonly check: () => AtHand<Caller>,
    private readonly startedAt: number,
  ) {}

  refusal(): AppError | undefined {
    return refusalOf(this.check);
  }

  lateRefusal(): AppError | undefined {
    return this.deps.clock.elapsed() - this.startedAt < FRESH_MS ? undefined : this.refusal();
  }

  onRefused(listener: () => void): () => void {
    return this.deps.look(() => {
      if (this.refusal() !== undefined) listener();
    });
  }

  needing(more: (caller: Caller) => void): Standing<Caller> {
    const check = () =>
      whenAtHand(this.check(), (caller) => {
        more(caller);
        return caller;
      });
    return new Checked(this.deps, this.path, check, this.startedAt);
  }
}

/**
 * Returns a function that makes the standing of one caller. `check` throws AppError if the caller would not be admitted now;
 * `startedAt` is when the request began, on the clock that never jumps.
 */
export function createStandings({ clock }: { readonly clock: Pick<Clock, "after" | "elapsed"> }) {
  const deps = { clock, look: createLooks({ clock }) };
  return <Caller>(path: string, check: () => AtHand<Caller>, startedAt: number): Standing<Caller> =>
    new Checked(deps, path, check, startedAt);
}
export type Standings = ReturnType<typeof createStandings>;

function refusalOf(check: () => unknown): AppError | undefined {
  try {
    const checked = check();
    // A grant that must be read first is not known to have changed. The check is repeated while the caller waits.
    if (checked instanceof Promise) checked.catch(() => {});
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error;
    // If the database cannot be read for a moment, that says nothing about the caller.
    return undefined;
  }
}

/**
 * Runs `work` for a waiting caller. The signal of `work` aborts when the caller is refused.
 * @throws AppError the refusal, whatever the result of the work
 */
export async function whileAllowed<T>(
  standing: Pick<Standing, "refusal" | "onRefused">,
  work: (refused: AbortSignal) => Promise<T>,
): Promise<T> {
  const refused = new AbortController();
  const stop = standing.onRefused(() => refused.abort());
  const [done] = await Promise.allSettled([work(refused.signal)]);
  stop();
  const refusal = standing.refusal();
  if (refusal !== undefined) throw refusal;
  if (done.status === "rejected") throw done.reason;
  return done.value;
}

/** Checks again before an action if the request took long to arrive. @throws AppError the refusal */
export function requireStanding(standing: Pick<Standing, "lateRefusal">): void {
  const refusal = standing.lateRefusal();
  if (refusal !== undefined) throw refusal;
}
