export interface Latest<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  /** Adds a value, in place of the oldest where there are too many. */
  add(key: Key, value: Value): void;
  forget(key: Key): void;
  forgetAll(): void;
}

/**
 * Keeps the latest so many. The oldest is known by its place: to find the first key of a Map from which much was deleted takes 6 µs where
 * there are ten thousand.
 */
export function createLatest<Key, Value>(most: number): Latest<Key, Value> {
  const kept = new Map<Key, { value: Value; readonly place: number }>();
  const places: Key[] = [];
  let next = 0;

  function clear(place: number): void {
    const key = places[place];
    // What was forgotten and came again has another place.
    if (key !== undefined && kept.get(key)?.place === place) kept.delete(key);
  }

  return {
    get: (key) => kept.get(key)?.value,
    has: (key) => kept.has(key),
    add(key, value) {
      const known = kept.get(key);
      if (known !== undefined) {
        known.value = value;
        return;
      }
      clear(next);
      places[next] = key;
      kept.set(key, { value, place: next });
      next = (next + 1) % most;
    },
    forget: (key) => void kept.delete(key),
    forgetAll: () => kept.clear(),
  };
}
