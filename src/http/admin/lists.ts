import type { Json } from "../../domain/json.ts";
import { MAX_RECORD_LIMIT } from "../../domain/limits.ts";
import { LIST_ORDERS, type ListSlice } from "../../domain/lists.ts";
import { type Reply, successfully } from "../reply.ts";
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

const ENCODER = new TextEncoder();

/**
 * Answers a part of a list, presented and encoded slice by slice: other requests have their turn in between. To join fifty thousand keys as
 * one text, and to encode that, would keep them waiting for a quarter of a second.
 */
export async function listed<Item>(
  name: string,
  slices: AsyncIterable<ListSlice<Item>>,
  present: (item: Item) => Json,
): Promise<Reply> {
  // The first one has no comma before it.
  const parts = [ENCODER.encode(`{"${name}":[`)];
  let end: string | undefined;
  for await (const { items, next } of slices) {
    const text = items.map((item) => JSON.stringify(present(item))).join(",");
    if (text !== "") parts.push(ENCODER.encode(parts.length === 1 ? text : `,${text}`));
    end = next;
  }
  parts.push(ENCODER.encode(`],"next":${JSON.stringify(end ?? null)}}`));
  return successfully(parts);
}
