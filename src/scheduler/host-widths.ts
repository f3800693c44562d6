import { type Callback, type Delivery, placeOf } from "../domain/callback/callback.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/** Sends at once to a host that has not shown its capacity yet. */
const FIRST = 4;
/** A slower answer comes from a host that is busy enough. */
const QUICK_MS = 500;
/** For this long after a failure, a host gets at most half of the sends that were under way. */
const CAREFUL_MS = 10 * 60_000;
/** Most hosts that are remembered; the earliest are forgotten first. */
const MOST_HOSTS = 10_000;

/**
 * How many sends of an account to a host may be under way at once: a few at first, one more after each quick delivery, one
 * fewer after each slow one, and half as many for a while after a failure.
 *
 * @param most the limit of any host, ≥ 1
 */
export function createHostWidths(most: number, clock: Pick<Clock, "elapsed">) {
  const first = Math.min(FIRST, most);
  const wider = new Map<string, number>();
  const careful = new Map<string, { readonly most: number; readonly until: number }>();

  function mostOf(place: string): number {
    const kept = careful.get(place);
    if (kept === undefined) return most;
    if (clock.elapsed() < kept.until) return kept.most;
    careful.delete(place);
    return most;
  }

  function set(place: string, width: number): void {
    if (width <= first) wider.delete(place);
    else remember(wider, place, width);
  }

  return {
    first,
    /** Places, by `placeOf`, where more than `first` may be under way. */
    wider: wider as ReadonlyMap<string, number>,
    /** @param tookMs from the beginning of the send to its outcome */
    ended(callback: Callback, { kind }: Delivery, tookMs: number): void {
      const place = placeOf(callback);
      const width = wider.get(place) ?? first;
      if (kind === "delivered") {
        set(place, tookMs <= QUICK_MS ? Math.min(width + 1, mostOf(place)) : width - 1);
      } else if ((kind === "refused" || kind === "unreachable") && width > first) {
        const half = Math.max(first, Math.floor(width / 2));
        remember(careful, place, { most: half, until: clock.elapsed() + CAREFUL_MS });
        set(place, half);
      }
    },
  };
}

function remember<Value>(places: Map<string, Value>, place: string, value: Value): void {
  places.set(place, value);
  const [earliest] = places.size > MOST_HOSTS ? places.keys() : [];
  if (earliest !== undefined) places.delete(earliest);
}
