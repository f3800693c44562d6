import type { Database } from "bun:sqlite";
import type { Connection } from "./connection.ts";

/** Numbers that stay in memory. More than this are not in use at one time. */
const MOST_KEPT = 10_000;

export type Labels = ReturnType<typeof prepareLabels>;

/**
 * Numbers the texts that many rows repeat. For writes: a text without a number gets one. What is kept in memory is forgotten when
 * writes are undone, since a number that was given in them may be given to another text later.
 */
export function prepareLabels({ db, onUndone }: Pick<Connection, "db" | "onUndone">) {
  const numberOf = prepareNumberOf(db);
  const kept = new Map<string, number>();
  /** Texts that came once. */
  const seen = new Set<string>();
  onUndone(() => kept.clear());

  function keep(text: string, number: number): number {
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, number);
    return number;
  }

  /** The number of a text that may never recur. It gets a number at the second request. */
  function ofRepeated(text: string): number | undefined {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const number = numberOf.known(text);
    if (number !== undefined) return keep(text, number);
    if (seen.delete(text)) return keep(text, numberOf.added(text));
    if (seen.size >= MOST_KEPT) seen.clear();
    seen.add(text);
    return undefined;
  }

  return {
    /** The number of a text, which gets one if it has none. */
    of: (text: string): number => kept.get(text) ?? keep(text, numberOf.known(text) ?? numberOf.added(text)),
    /** Columns for a text that may never recur, and for its label: one is null, or both if there is no text. */
    columns(text: string | null): readonly [text: string | null, label: number | null] {
      const number = text === null ? undefined : ofRepeated(text);
      return number === undefined ? [text, null] : [null, number];
    },
  };
}

function prepareNumberOf(db: Database) {
  const find = db.prepare<{ number: number }, [text: string]>("select number from label where text = ?");
  const add = db.prepare<never, [text: string]>("insert into label (text) values (?)");
  return {
    known: (text: string) => find.get(text)?.number,
    added: (text: string) => Number(add.run(text).lastInsertRowid),
  };
}
