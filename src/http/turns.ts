import type { Clock } from "../domain/ports/runtime.ts";

/** How many requests of one account begin in one turn of the event loop while others ask too. */
const PER_TURN = 16;
/** For one to two of these, an account counts as asking after its last request. */
const PERIOD_MS = 1_000;

/** What a request waits for before it begins; undefined when it may begin now. */
export type Turns = (account: string) => Promise<void> | undefined;

interface Asker {
  begun: number;
  readonly line: (() => void)[];
}

/**
 * Lets accounts take turns. One that sends many requests at once would otherwise hold up everybody's by the time they all take:
 * its requests beyond a few begin in later turns of the event loop, and what came from others meanwhile goes first. An account that
 * is alone waits for nothing.
 */
export function createTurns({ clock }: { readonly clock: Pick<Clock, "after"> }): Turns {
  const askers = new Map<string, Asker>();
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let isCounting = false;
  let isTurnOpen = false;

  function isAlone(account: string): boolean {
    if (recent.size > 1 || earlier.size > 1) return false;
    return earlier.size === 0 || earlier.has(account);
  }

  function countPeriod(): void {
    isCounting = recent.size > 0;
    earlier = recent;
    recent = new Set();
    if (isCounting) clock.after(PERIOD_MS, countPeriod);
  }

  function endTurn(): void {
    isTurnOpen = false;
    for (const [account, asker] of askers) {
      asker.begun = Math.min(PER_TURN, asker.line.length);
      if (asker.begun === 0) askers.delete(account);
      for (const begin of asker.line.splice(0, PER_TURN)) begin();
    }
    if (askers.size > 0) openTurn();
  }

  function openTurn(): void {
    if (isTurnOpen) return;
    isTurnOpen = true;
    setImmediate(endTurn);
  }

  return (account) => {
    recent.add(account);
    if (!isCounting) {
      isCounting = true;
      clock.after(PERIOD_MS, countPeriod);
    }
    if (isAlone(account) && !askers.has(account)) return undefined;
    let asker = askers.get(account);
    if (asker === undefined) {
      asker = { begun: 0, line: [] };
      askers.set(account, asker);
    }
    openTurn();
    if (asker.begun < PER_TURN && asker.line.length === 0) {
      asker.begun += 1;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    asker.line.push(resolve);
    return promise;
  };
}
