import type { Clock } from "../domain/ports/runtime.ts";

/** After a turn of the event loop that computed longer than this for one asker, a quarter of its requests begin in the next. */
const LONG_MS = 2;
const AFTER_LONG = 0.25;
/**
 * A turn that waited for the disk or for a processor lets more begin in the next: as many again for each of so many milliseconds, up to so
 * many times. What came meanwhile would else be in line long after the wait is over.
 */
const WAITED_MS = 2;
const MOST_TIMES = 4;
/** An account counts as asking for one to two of these periods after its last request. */
const PERIOD_MS = 1_000;

export interface Turns {
  /** Begins a request now, or late: when the turn of whoever asks comes. */
  <T>(asker: string | (() => string), begin: (isLate: boolean) => T | Promise<T>): T | Promise<T>;
  /** Begins what takes no turns, and makes no asker wait for what it computed. */
  readonly aside: <T>(begin: () => T) => T;
}

interface Asker {
  /** Requests that began in this turn of the event loop. */
  begun: number;
  /** How many may begin in this turn. */
  most: number;
  /** How long its requests took to begin in this turn. */
  spentMs: number;
  readonly line: (() => void)[];
}

export interface TurnsDeps {
  /** How many requests of one caller begin in one turn. */
  readonly perTurn: number;
  /** Whether a caller may pass without a turn. */
  readonly mayPass: (asker: string) => boolean;
  /** How long this thread has computed. Unlike time, it does not grow while the thread waits for a slow disk. */
  readonly computedMs: () => number;
  /** Time that passes, which is quicker to read. */
  readonly elapsedMs: () => number;
}

/**
 * Lets askers take turns. One that sends many requests at once would otherwise hold up everybody's by the time they all take:
 * its requests beyond a few begin in later turns of the event loop, and what came from others meanwhile goes first. A long turn
 * counts for an asker without what others' requests took to begin.
 */
export function createTurns({ perTurn, mayPass, ...clocks }: TurnsDeps): Turns {
  const few = Math.ceil(perTurn * AFTER_LONG);
  const askers = new Map<string, Asker>();
  const spending = createSpending(clocks);
  /** Those that began in this turn and were not asked who they are: too few for any of them to have begun too many. */
  let unnamed: (() => string)[] = [];
  let mostUnnamed = perTurn;
  let isTurnOpen = false;

  function openTurn(): void {
    if (isTurnOpen) return;
    isTurnOpen = true;
    spending.open();
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isTurnOpen = false;
    unnamed = [];
    const { unexplainedMs, waitedMs } = spending.close();
    const times = Math.min(MOST_TIMES, 1 + Math.floor(waitedMs / WAITED_MS));
    const mostAfter = (ownMs: number) => times * (unexplainedMs + ownMs > LONG_MS ? few : perTurn);
    mostUnnamed = mostAfter(0);
    for (const [name, asker] of askers) {
      const next = nextOf(asker, mostAfter(asker.spentMs));
      // One that has to take fewer is remembered.
      if (next.length === 0 && asker.most >= perTurn) askers.delete(name);
      for (const begin of next) begin();
    }
    if (askers.size > 0) openTurn();
  }

  function askerOf(name: string): Asker {
    return askers.getOrInsertComputed(name, () => ({ begun: 0, most: mostUnnamed, spentMs: 0, line: [] }));
  }

  function nameAll(): void {
    for (const nameOf of unnamed) askerOf(nameOf()).begun += 1;
    unnamed = [];
  }

  function turns<T>(asked: string | (() => string), begin: (isLate: boolean) => T | Promise<T>) {
    if (typeof asked === "function" && askers.size === 0 && unnamed.length < mostUnnamed) {
      unnamed.push(asked);
      openTurn();
      return begin(false);
    }
    const name = typeof asked === "function" ? asked() : asked;
    if (unnamed.length > 0) nameAll();
    if (mayPass(name) && !askers.has(name)) return begin(false);
    openTurn();
    return take(askerOf(name), (asker, isLate) => spending.timed(asker, () => begin(isLate)));
  }

  const aside = <T>(begin: () => T): T => {
    openTurn();
    return spending.timed(undefined, begin);
  };
  return Object.assign(turns, { aside });
}

/** Those of an asker's line that begin in a new turn, in which so many may. */
function nextOf(asker: Asker, most: number): (() => void)[] {
  const next = asker.line.splice(0, most);
  asker.most = most;
  asker.spentMs = 0;
  asker.begun = next.length;
  return next;
}

/** Begins one's request in this turn, or puts it into its line. */
function take<T>(asker: Asker, begin: (asker: Asker, isLate: boolean) => T | Promise<T>): T | Promise<T> {
  if (asker.begun < asker.most && asker.line.length === 0) {
    asker.begun += 1;
    return begin(asker, false);
  }
  return new Promise<void>((resolve) => asker.line.push(resolve)).then(() => begin(asker, true));
}

/** What a turn of the event loop computed, and how much of it requests took to begin. */
function createSpending({ computedMs, elapsedMs }: Pick<TurnsDeps, "computedMs" | "elapsedMs">) {
  let computedBeforeMs = 0;
  let openedAtMs = 0;
  let spentMs = 0;
  return {
    open(): void {
      computedBeforeMs = computedMs();
      openedAtMs = elapsedMs();
      spentMs = 0;
    },
    /** @returns what nobody's requests are known to have taken, and how long it did not compute */
    close() {
      const turnMs = computedMs() - computedBeforeMs;
      return {
        unexplainedMs: turnMs - spentMs,
        waitedMs: Math.max(0, elapsedMs() - openedAtMs - turnMs),
      };
    },
    timed<T>(of: Asker | undefined, begin: () => T): T {
      const from = elapsedMs();
      try {
        return begin();
      } finally {
        const tookMs = elapsedMs() - from;
        spentMs += tookMs;
        if (of !== undefined) of.spentMs += tookMs;
      }
    },
  };
}

/** Tells whether an account is the only one that sends requests. Turns would then only keep its writes from sharing commits. */
export function createCompany({ clock }: { readonly clock: Pick<Clock, "after"> }) {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let isCounting = false;

  function countPeriod(): void {
    isCounting = recent.size > 0;
    earlier = recent;
    recent = new Set();
    if (isCounting) clock.after(PERIOD_MS, countPeriod);
  }

  return (account: string): boolean => {
    recent.add(account);
    if (!isCounting) {
      isCounting = true;
      clock.after(PERIOD_MS, countPeriod);
    }
    if (recent.size > 1 || earlier.size > 1) return false;
    return earlier.size === 0 || earlier.has(account);
  };
}
