/** Which part of a list is wanted, in the order of ids. */
export interface ListQuery {
  /** ≥ 1; all that follow unless given. */
  readonly limit?: number | undefined;
  /** The id after which the part begins; the beginning of the list unless given. */
  readonly after?: string | undefined;
}

/** Neighbours in a list. */
export interface ListSlice<Item> {
  readonly items: readonly Item[];
  /** After which id the list goes on; undefined at its end. */
  readonly next: string | undefined;
}
