import { useEffect } from "preact/hooks";
import { type More, useMore } from "./more.ts";
import { type Reading, useReading } from "./use.ts";

/** As many as the first page has: it is there soon. Later ones have as many as one page may. */
const FIRST_PAGE = 200;
const LATER_PAGE = 1_000;

/** Which page of a list is asked for, as the API words it. */
export interface PageQuery {
  readonly order: "desc";
  readonly limit: number;
  readonly after?: string;
}

/** A list as far as it was read, the newest first. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  /** Where it goes on; null where all of it was read. */
  readonly next: string | null;
}

export interface Listing<Item> extends Reading<Listed<Item>> {
  readonly more: More;
}

/** Reads a list of records by pages, the newest first: the first one at once, the others as they are wanted. @param about as for `useReading` */
export function useListing<Item>(
  about: string,
  readPage: (query: PageQuery, signal?: AbortSignal) => Promise<Listed<Item>>,
): Listing<Item> {
  const read = (after?: string, signal?: AbortSignal) =>
    readPage(
      after === undefined
        ? { order: "desc", limit: FIRST_PAGE }
        : { order: "desc", limit: LATER_PAGE, after },
      signal,
    );
  const join = (before: Listed<Item>, page: Listed<Item>) => ({
    items: [...before.items, ...page.items],
    next: page.next,
  });
  const reading = useReading(about, (signal) => read(undefined, signal));
  const more = useMore(reading, about, { read, join });
  return { ...reading, more };
}

/** Reads on while there is less than is wanted, such as of rows that filters let through. */
export function useEnough({ more }: Pick<Listing<unknown>, "more">, isEnough: boolean): void {
  // After every page, and not by what it had: filters may let nothing of it through.
  useEffect(() => {
    if (!isEnough) more.read();
  });
}
