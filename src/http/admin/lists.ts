import type { Json } from "../../domain/json.ts";
import { MAX_RECORD_LIMIT } from "../../domain/limits.ts";
import { LIST_ORDERS, type ListSlice } from "../../domain/lists.ts";
import { type Reply, successful } from "../reply.ts";
import { integer, nullable, type Properties, text } from "../wire/schema.ts";

/** The parameters of a list of records that comes in pages where they are asked for. */
export function pageParameters(what: string): Properties {
  const all = `all that follow unless given: give it where there may be many`;
  return {
    limit: integer(`${what} in the page, ${all}.`, { minimum: 1, maximum: MAX_RECORD_LIMIT }),
    after: text("`next` of the page before.", { maxLength: 100 }),
  };
}

/** The parameter of a list that may begin with its newest. */
export const ORDER: Properties = {
  order: text("In which order: the oldest first, or the newest.", { enum: LIST_ORDERS, default: "asc" }),
};

/** Where a list goes on. */
export const NEXT = nullable(text("Give as `after` for the next page; null on the last."));

/** Answers a part of a list, presented and written as text slice by slice: other requests have their turn in between. */
export async function listed<Item>(
  name: string,
  slices: AsyncIterable<ListSlice<Item>>,
  present: (item: Item) => Json,
): Promise<Reply> {
  const texts: string[] = [];
  let end: string | undefined;
  for await (const { items, next } of slices) {
    for (const item of items) texts.push(JSON.stringify(present(item)));
    end = next;
  }
  return successful(`{"${name}":[${texts.join(",")}],"next":${JSON.stringify(end ?? null)}}`);
}
