import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

/** Numbers that stay in memory. More than this are not in use at one time. */
const MOST_KEPT = 10_000;

/** An answer with a row costs one round trip less than one without, which is asked for again. */
const FIND = statement<{ number: number | null }, [text: string]>(
  "select (select number from label where text = $1) as number",
);
const ADD = statement<{ number: number }, [text: string]>(
  "insert into label (text) values ($1) on conflict (text) do nothing returning number",
);

export type Labels = ReturnType<typeof createLabels>;

/**
 * Numbers the texts that many rows repeat. A text gets its number outside of the transaction that asks: a number without rows does no
 * harm, and no transaction waits for another one that names the same text.
 */
export function createLabels({ aside }: Pick<Driver, "aside">) {
  const kept = new Map<string, number>();
  /** Texts that came once. */
  const seen = new Set<string>();

  function keep(text: string, number: number): number {
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, number);
    return number;
  }

  const known = async (text: string) => (await FIND.get(aside, text))?.number ?? undefined;

  async function added(text: string): Promise<number> {
    // Another process may add it between the two.
    const number = (await ADD.get(aside, text))?.number ?? (await known(text));
    if (number === undefined) throw new Error("A label was neither added nor there.");
    return number;
  }

  /** The number of a text that may never come again: it gets one the second time that it is asked for. */
  async function ofRepeated(text: string): Promise<number | undefined> {
    const cached = kept.get(text);
    if (cached !== undefined) return cached;
    const number = await known(text);
    if (number !== undefined) return keep(text, number);
    if (seen.delete(text)) return keep(text, await added(text));
    if (seen.size >= MOST_KEPT) seen.clear();
    seen.add(text);
    return undefined;
  }

  return {
    /** The number of a text, which gets one if it has none. */
    of: async (text: string): Promise<number> =>
      kept.get(text) ?? keep(text, (await known(text)) ?? (await added(text))),
    /** A column for a text that may never come again, and one for its label: one of them is null, or both for no text. */
    async columns(text: string | null): Promise<readonly [text: string | null, label: number | null]> {
      const number = text === null ? undefined : await ofRepeated(text);
      return number === undefined ? [text, null] : [null, number];
    },
  };
}
