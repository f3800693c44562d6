import { mustBe } from "../domain/errors.ts";
import { type IdPrefix, isId } from "../domain/ids.ts";
import type { ListQuery, ListSlice } from "../domain/lists.ts";
import type { ListPage } from "../domain/ports/account-store.ts";

/** Rows that are read before other work runs: a few milliseconds' worth. */
const AT_ONCE = 100;

/**
 * Reads a part of a list some rows at a time. Other work runs in between, so rows that are made meanwhile may be in it.
 *
 * @param prefix of the ids in the list
 * @param read returns the rows of a page in the order that it is asked for
 * @returns slices, of which the last says whether the list goes on after the part; at least one
 * @throws AppError `invalid_request` if `after` is no such id
 */
export async function* readPart<Item extends { readonly id: string }>(
  prefix: IdPrefix,
  read: (page: ListPage) => Promise<readonly Item[]>,
  query: ListQuery = {},
): AsyncGenerator<ListSlice<Item>, void, void> {
  const { after } = query;
  if (after !== undefined && !isId(prefix, after)) throw mustBe("after", { form: "cursor" }, after);
  yield* readSlices(read, query);
}

/** Like `readPart`, of a query that is checked. */
export async function* readSlices<Item extends { readonly id: string }>(
  read: (page: ListPage) => Promise<readonly Item[]>,
  { limit = Number.POSITIVE_INFINITY, after, order }: ListQuery = {},
): AsyncGenerator<ListSlice<Item>, void, void> {
  let left = limit;
  let last = after;
  for (;;) {
    const wanted = Math.min(AT_ONCE, left);
    // One row more than wanted shows whether the list goes on.
    const found = await read({ limit: wanted + 1, after: last, order });
    const items = found.slice(0, wanted);
    last = items.at(-1)?.id;
    left -= items.length;
    const next = found.length > wanted ? last : undefined;
    yield { items, next };
    if (next === undefined || left <= 0) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** All of a list, read some rows at a time. */
export async function readAll<Item extends { readonly id: string }>(
  read: (page: ListPage) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const { items } of readSlices(read)) all.push(...items);
  return all;
}

/** The names of what has these ids, read some at a time. */
export async function readNames<Id extends string>(
  read: (ids: readonly Id[]) => Promise<ReadonlyMap<string, string>>,
  ids: Iterable<Id>,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  const names = new Map<string, string>();
  for (let i = 0; i < wanted.length; i += AT_ONCE) {
    for (const [id, name] of await read(wanted.slice(i, i + AT_ONCE))) names.set(id, name);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return names;
}
