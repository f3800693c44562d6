import type { JsonObject } from "../../src/domain/json.ts";
import { MAX_RECORD_LIMIT } from "../../src/domain/limits.ts";
import { beginningOf, type ListQuery, type ListSlice } from "../../src/domain/lists.ts";
import type { AdminCalls } from "../client/admin.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { objectsIn, optionalTextIn } from "./fields.ts";
import type { Slices } from "./port.ts";

type Query = NonNullable<Parameters<AdminCalls["get"]>[1]>;

/** Reads a part of a list of a server, page by page; all at once from a server that has no pages, or not in this order. */
export async function* readPages<Item extends { readonly id: string }>(
  get: AdminCalls["get"],
  name: "accounts" | "keys" | "tokens",
  { limit, after, order, account }: ListQuery & { readonly account?: string | undefined } = {},
  itemOf: (form: JsonObject) => Item,
): Slices<Item> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let last = after;
  for (;;) {
    const page = {
      ...(order === undefined ? {} : { order }),
      ...{ limit: String(Math.min(left, MAX_RECORD_LIMIT)), after: last },
    };
    const { answer, isOlder } = await getNewer(get, `/${name}`, { account }, page);
    const items = objectsIn(answer, name).map(itemOf);
    if (isOlder) {
      yield partOf(items, { limit: left, after: last, order });
      return;
    }
    last = optionalTextIn(answer, "next");
    left -= items.length;
    yield { items, next: last };
    if (last === undefined || left <= 0) return;
  }
}

/**
 * Asks with parameters that older servers do not know, and without these where a server refuses the first of them.
 *
 * @returns `isOlder`: it was asked without them
 */
export async function getNewer(
  get: AdminCalls["get"],
  path: string,
  query: Query,
  newer: Query,
): Promise<{ readonly answer: JsonObject; readonly isOlder: boolean }> {
  const [first] = Object.keys(newer);
  try {
    // In this order: a server names the first parameter that it does not know.
    return { answer: await get(path, { ...newer, ...query }), isOlder: false };
  } catch (error) {
    const isRefused = error instanceof Failure && error.exitCode === EXIT.rejected;
    if (!isRefused || error.more?.param !== first) throw error;
    return { answer: await get(path, query), isOlder: true };
  }
}

/** A part of a list that was answered whole. The order of ids is the one in which things were made. */
function partOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  { limit, order = "asc", after = beginningOf(order) }: ListQuery & { readonly limit: number },
): ListSlice<Item> {
  const sign = order === "asc" ? 1 : -1;
  const compare = (one: string, other: string) => (one < other ? -sign : one > other ? sign : 0);
  const following = all
    .filter(({ id }) => compare(after, id) < 0)
    .sort((one, other) => compare(one.id, other.id));
  const items = following.slice(0, limit);
  return { items, next: items.length < following.length ? items.at(-1)?.id : undefined };
}
