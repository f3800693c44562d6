import type { JsonObject } from "../../src/domain/json.ts";
import { MAX_RECORD_LIMIT } from "../../src/domain/limits.ts";
import type { ListQuery } from "../../src/domain/lists.ts";
import type { AdminCalls } from "../client/admin.ts";
import { objectsIn, optionalTextIn } from "./fields.ts";
import type { Slices } from "./port.ts";

/** Reads a part of a list of a server, page by page. */
export async function* readPages<Item>(
  get: AdminCalls["get"],
  name: "accounts" | "keys" | "tokens",
  { limit, after, account }: ListQuery & { readonly account?: string | undefined } = {},
  itemOf: (form: JsonObject) => Item,
): Slices<Item> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let last = after;
  for (;;) {
    const query = { limit: String(Math.min(left, MAX_RECORD_LIMIT)), after: last, account };
    const page = await get(`/${name}`, query);
    const items = objectsIn(page, name).map(itemOf);
    last = optionalTextIn(page, "next");
    left -= items.length;
    yield { items, next: last };
    if (last === undefined || left <= 0) return;
  }
}
