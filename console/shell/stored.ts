import { effect, type Signal, signal } from "@preact/signals";

/** A choice of this reader, kept by the browser where it may. Never a secret. */
export function stored<Value extends string>(
  name: string,
  values: readonly Value[],
  fallback: Value,
): Signal<Value> {
  const key = `svc.${name}`;
  const found = values.find((value) => value === tryRead(key));
  const choice = signal<Value>(found ?? fallback);
  effect(() => {
    try {
      localStorage.setItem(key, choice.value);
    } catch {
      // A browser that keeps nothing shows the same until the page is closed.
    }
  });
  return choice;
}

function tryRead(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
