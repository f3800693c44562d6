import type { Clock } from "../domain/ports/runtime.ts";

/** After a turn of the event loop that computed longer than this, a quarter of the requests begin in the next. */
const LONG_MS = 2;
const AFTER_LONG = 0.25;
/** For one to two of these, an account counts as asking after its last request. */
const PERIOD_MS = 1_000;

/** Begins a request now, or late: when the turn of whoever asks comes. */
export type Turns = <T>(
  asker: string | (() => string),
  begin: (isLate: boolean) => T | Promise<T>,
) => T | Promise<T>;

interface Asker {
  /** In this turn of the event loop. */
  begun: number;
  readonly line: (() => void)[];
}

export interface TurnsDeps {
  /** How many requests of one asker begin in one turn. */
  readonly perTurn: number;
  /** Whether to let an asker pass without a turn. */
  readonly mayPass: (asker: string) => boolean;
  /** How long this thread has computed. Unlike time it does not grow while a slow disk is waited for. */
  readonly computedMs: () => number;
}

/**
 * Lets askers take turns. One that sends many requests at once would otherwise hold up everybody's by the time they all take:
 * its requests beyond a few begin in later turns of the event loop, and what came from others meanwhile goes first.
 */
export function createTurns({ perTurn, mayPass, computedMs }: TurnsDeps): Turns {
  const askers = new Map<string, Asker>();
  /** Those that began in this turn and were not asked who they are: too few for any of them to have begun too many. */
  let unnamed: (() => string)[] = [];
  let isTurnOpen = false;
  let openedAtMs = 0;
  let most = perTurn;

  function openTurn(): void {
    if (isTurnOpen) return;
    isTurnOpen = true;
    openedAtMs = computedMs();
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isTurnOpen = false;
    unnamed = [];
    most = computedMs() - openedAtMs > LONG_MS ? Math.ceil(perTurn * AFTER_LONG) : perTurn;
    for (const [name, asker] of askers) {
      const next = asker.line.splice(0, most);
      asker.begun = next.length;
      if (next.length === 0) askers.delete(name);
      for (const begin of next) begin();
    }
    if (askers.size > 0) openTurn();
  }

  function askerOf(name: string): Asker {
    const known = askers.get(name);
    if (known !== undefined) return known;
    const asker = { begun: 0, line: [] };
    askers.set(name, asker);
    return asker;
  }

  function nameAll(): void {
    for (const nameOf of unnamed) askerOf(nameOf()).begun += 1;
    unnamed = [];
  }

  return (asked, begin) => {
    if (typeof asked === "function" && askers.size === 0 && unnamed.length < most) {
      unnamed.push(asked);
      openTurn();
      return begin(false);
    }
    const name = typeof asked === "function" ? asked() : asked;
    if (unnamed.length > 0) nameAll();
    if (mayPass(name) && !askers.has(name)) return begin(false);
    const asker = askerOf(name);
    openTurn();
    if (asker.begun < most && asker.line.length === 0) {
      asker.begun += 1;
      return begin(false);
    }
    return new Promise<void>((resolve) => asker.line.push(resolve)).then(() => begin(true));
  };
}

/** Tells whether an account is the only one that asks. Then turns would only keep its writes from sharing commits. */
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
