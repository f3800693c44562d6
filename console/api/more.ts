import { useRef, useState } from "preact/hooks";
import type { Reading } from "./use.ts";

/** What comes after a list's last entry. */
export interface More {
  readonly isReading: boolean;
  readonly problem: unknown;
  /** Reads on, unless that is under way, failed, or found nothing the last time. */
  readonly read: () => void;
  readonly readAnyway: () => void;
}

/** Where the next page begins; null after the last. */
interface Paged {
  readonly next: string | null;
}

interface Pages<Data> {
  readonly read: (after: string) => Promise<Data>;
  /** The list with one more page, whose end is the list's from then on. */
  readonly join: (before: Data, page: Data) => Data;
  /** Whether a page has nothing to show, so that the one after it is not read by itself. */
  readonly isBarren?: (page: Data) => boolean;
}

/** What a list has after the last entry of its first page, which was read anew; nothing where the two have no entry in common. */
export function tailOf<Entry>(
  fresh: readonly Entry[],
  before: readonly Entry[],
  idOf: (entry: Entry) => string,
): readonly Entry[] {
  const last = fresh.at(-1);
  const place = last === undefined ? -1 : before.findIndex((entry) => idOf(entry) === idOf(last));
  return place < 0 ? [] : before.slice(place + 1);
}

/** Reads a list anew as far as it was read before, page by page. @param count of its entries, of which there were so many */
export async function readAsFar<Data extends Paged>(
  count: (list: Data) => number,
  held: number,
  { read, join }: Pick<Pages<Data>, "join"> & { readonly read: (after?: string) => Promise<Data> },
): Promise<Data> {
  let list = await read();
  while (list.next !== null && count(list) < held) list = join(list, await read(list.next));
  return list;
}

/** Reads the pages of a list that follow the first. @param about tells one list from another, as for `useReading` */
export function useMore<Data extends Paged>(reading: Reading<Data>, about: string, pages: Pages<Data>): More {
  const [state, setState] = useState<{ about: string; isReading: boolean; problem?: unknown }>();
  const [barrenAt, setBarrenAt] = useState<string>();
  const busy = useRef("");
  const now = state?.about === about ? state : undefined;
  const latest = useRef(about);
  latest.current = about;
  const next = reading.data?.next ?? undefined;
  const go = async (after: string) => {
    const place = `${about} ${after}`;
    if (busy.current === place) return;
    busy.current = place;
    setState({ about, isReading: true });
    try {
      const page = await pages.read(after);
      // The reader may have chosen other filters meanwhile.
      if (latest.current !== about) return;
      reading.change((before) => (before.next === after ? pages.join(before, page) : before));
      if (pages.isBarren?.(page) === true && page.next !== null) setBarrenAt(page.next);
      setState({ about, isReading: false });
    } catch (problem) {
      setState({ about, isReading: false, problem });
    } finally {
      if (busy.current === place) busy.current = "";
    }
  };
  const readAnyway = () => {
    if (next !== undefined) void go(next);
  };
  return {
    isReading: now?.isReading === true,
    problem: now?.problem,
    read: () => {
      if (now?.problem === undefined && next !== barrenAt) readAnyway();
    },
    readAnyway,
  };
}
