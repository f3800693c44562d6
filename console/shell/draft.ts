import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { session } from "../api/session.ts";

/** What somebody has typed and not sent. */
export interface Draft<Fields> {
  readonly fields: Fields;
  readonly set: (change: Partial<Fields>) => void;
  /** Forgets it, when it was sent or given up. */
  readonly clear: () => void;
}

/**
 * Fields of a form that survive a reload and the end of the session, in this tab alone, and for the same key or token alone. Never
 * for secrets.
 *
 * @param name tells one form from another, such as `key/key_01…`
 * @param start what is there before anything is typed
 */
export function useDraft<Fields extends Readonly<Record<string, string>>>(
  name: string,
  start: Fields,
): Draft<Fields> {
  const place = `svc.draft.${session.value?.holder.id ?? ""}.${name}`;
  const [typed, setTyped] = useState<Partial<Fields>>(() => read<Fields>(place));
  const isFirst = useRef(true);
  // Before the next frame: a page may be left in the moment of the last letter.
  useLayoutEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else write(place, typed);
  }, [place, typed]);
  return {
    fields: { ...start, ...typed },
    set: (change) => setTyped((before) => ({ ...before, ...change })),
    clear: () => {
      // At once: whoever clears it may leave the form in the same breath.
      write(place, {});
      setTyped({});
    },
  };
}

function read<Fields>(place: string): Partial<Fields> {
  try {
    // It was written by this page, in this form.
    return JSON.parse(sessionStorage.getItem(place) ?? "{}") as Partial<Fields>;
  } catch {
    return {};
  }
}

function write(place: string, typed: object): void {
  try {
    if (Object.keys(typed).length === 0) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, JSON.stringify(typed));
  } catch {
    // A browser that keeps nothing has it until the page is closed.
  }
}
