import { type Row, UnreadableValue } from "./fields.ts";
import { type HeldKey, type LeftBehind, UnreadableSource } from "./holdings.ts";

/** A row as a key here, or why it cannot be one. A row with an unreadable value is not imported. */
export function moveRow(
  left: (why: string) => LeftBehind,
  move: () => HeldKey | LeftBehind,
): HeldKey | LeftBehind {
  try {
    return move();
  } catch (error) {
    if (!(error instanceof UnreadableValue)) throw error;
    return { ...left(`${error.message}: mend it there, or make a key here`), unreadable: error.column };
  }
}

/**
 * Makes a key of each row.
 * @throws UnreadableSource where a column cannot be read in any of them: it means something else in this version
 */
export function moveRows(
  rows: readonly Row[],
  table: string,
  move: (row: Row) => HeldKey | LeftBehind,
): { readonly keys: readonly HeldKey[]; readonly left: readonly LeftBehind[] } {
  const moved = rows.map(move);
  const left = moved.filter((each): each is LeftBehind => !("origin" in each));
  const [column] = left.flatMap(({ unreadable }) => unreadable ?? []);
  if (
    column !== undefined &&
    left.length === rows.length &&
    left.every(({ unreadable }) => unreadable === column)
  )
    throw new UnreadableSource(
      `No ${column} in ${table} can be read: its version is older or newer than those that can be read.`,
    );
  return { keys: moved.filter((each): each is HeldKey => "origin" in each), left };
}
