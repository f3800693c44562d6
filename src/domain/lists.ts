/** Lists are ordered by ids, the order in which things were made: the oldest first, or the newest. */
export const LIST_ORDERS = ["asc", "desc"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** After which id a list begins: one before all ids, or one after all of them. */
export const beginningOf = (order: ListOrder): string => (order === "asc" ? "" : "~");

/** Which part of a list is wanted, in the order of ids. */
export interface ListQuery {
  /** ≥ 1; all that follow unless given. */
  readonly limit?: number | undefined;
  /** The id after which the part begins; the beginning of the list unless given. */
  readonly after?: string | undefined;
  /** `asc` unless given. */
  readonly order?: ListOrder | undefined;
}

/** Neighbours in a list. */
export interface ListSlice<Item> {
  readonly items: readonly Item[];
  /** After which id the list goes on; undefined at its end. */
  readonly next: string | undefined;
}
