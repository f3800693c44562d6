/** Accounts by their numbers, and how many tasks of each start before a task of another account. */
export interface TurnsBefore {
  /** Accounts with higher numbers than this one, */
  readonly after: number;
  /** and lower ones than this one. */
  readonly before: number;
  readonly each: number;
}

/** Every account's number is between these. */
const FIRST = 0;
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Which tasks of other accounts start before a task, within its setup. Accounts take turns in the order of their numbers, with
 * one task a turn, beginning after the account that was served last. With `own` older tasks of its account, a task starts in
 * its account's turn number `own + 1`. Before that turn, every account that comes earlier in a round has had that many turns,
 * and every other account one less, as far as it has tasks.
 *
 * @param served the account that was served last; undefined for none
 * @returns ranges of accounts that do not overlap, ordered by turn, without ranges in which accounts have no turn
 */
export function turnsBefore(account: number, served: number | undefined, own: number): TurnsBefore[] {
  return rangesBefore(account, served, own).filter(({ after, before, each }) => each > 0 && after < before);
}

function rangesBefore(account: number, served: number | undefined, own: number): TurnsBefore[] {
  const first = own + 1;
  if (served === undefined)
    return [
      { after: FIRST, before: account, each: first },
      { after: account, before: LAST, each: own },
    ];
  if (served < account)
    return [
      { after: served, before: account, each: first },
      { after: account, before: LAST, each: own },
      // The account served last comes last in a round, so it has one turn less.
      { after: FIRST, before: served + 1, each: own },
    ];
  return [
    { after: served, before: LAST, each: first },
    { after: FIRST, before: account, each: first },
    ...(served === account ? [] : [{ after: account, before: served + 1, each: own }]),
  ];
}

/** A range of setups by their names: from the first one, up to but without the second. */
export type SetupRange = readonly [from: string, before: string];

/** Every setup sorts between these. Tasks without a setup have the first. */
const FIRST_SETUP = "";
const LAST_SETUP = "\u{10FFFF}";

/**
 * The setups whose turns come before that of a given setup, in their order: from the setup of the lane's current row to the
 * last setup, then on from the first.
 *
 * @param row undefined if the lane has had no row
 */
export function setupsBefore(setup: string, row: string | undefined): readonly SetupRange[] {
  const from = row ?? FIRST_SETUP;
  if (from <= setup) return [[from, setup]];
  return [
    [from, LAST_SETUP],
    [FIRST_SETUP, setup],
  ];
}
