import { type Place, type Reading, type Step, withValueAt } from "../places.ts";

/** A value at a place of an answer. */
export interface Placed {
  readonly steps: readonly Step[];
  readonly value: unknown;
}

/** Combinations that are tried before a search gives up. */
const MOST_TRIES = 20_000;
const NOTHING = Symbol("nothing");

/** The places of one variable, each once. Places that lie inside or around one of `fixed` are left out. */
export function freePlaces(
  { places }: Pick<Reading, "places">,
  root: string,
  fixed: readonly Placed[] = [],
): (readonly Step[])[] {
  const own = places.filter((place) => place.root === root && place.steps.length > 0);
  const byText = new Map(own.map(({ steps }) => [steps.join("."), steps]));
  return [...byText.values()].filter((steps) => !fixed.some((each) => isWithin(steps, each.steps)));
}

/** Whether one of two places is the other or leads to it. */
function isWithin(a: readonly Step[], b: readonly Step[]): boolean {
  return a.every((step, i) => i >= b.length || step === b[i]);
}

/** Puts values at places, one combination after the other, until one is good. An empty place is tried first. */
export function searchBody<T>(
  fixed: readonly Placed[],
  free: readonly (readonly Step[])[],
  values: readonly unknown[],
  isGood: (body: unknown) => T | undefined,
): T | undefined {
  const start = fixed.reduce<unknown>((body, { steps, value }) => withValueAt(body, steps, value), {});
  const choices = [NOTHING, ...values];
  const count = Math.min(MOST_TRIES, choices.length ** free.length);
  for (let i = 0; i < count; i++) {
    let rest = i;
    let body = start;
    for (const steps of free) {
      const value = choices[rest % choices.length];
      rest = Math.floor(rest / choices.length);
      if (value !== NOTHING) body = withValueAt(body, steps, value);
    }
    const found = isGood(body);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether any of the places is the variable itself, so that all of its members count as read. */
export function readsWhole(places: readonly Place[], root: string): boolean {
  return places.some((place) => place.root === root && place.steps.length === 0);
}
