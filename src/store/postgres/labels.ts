import type { Driver } from "./driver.ts";
import { type Session, statement } from "./session.ts";

/** How many numbers stay in memory. More are never in use at one time. */
const MOST_KEPT = 10_000;

/** An answer with a row for each text saves a round trip, because an answer without rows is requested again. */
const FIND = statement<{ text: string; number: number | null }, [texts: readonly string[]]>(
  `select text, (select number from label where label.text = given.text) as number
   from unnest($1::text[]) as given (text)`,
);
const ADD = statement<{ number: number }, [text: string]>(
  "insert into label (text) values ($1) on conflict (text) do nothing returning number",
);

export type Labels = ReturnType<typeof createLabels>;

/**
 * Numbers the texts that many rows repeat. A text gets its number outside of the transaction that needs it. A number without rows
 * does no harm, and no transaction waits for another one that names the same text.
 */
export function createLabels({ aside }: Pick<Driver, "aside">) {
  const kept = new Map<string, number>();
  /** Texts that came once. */
  const seen = new Set<string>();
  const known = prepareFind(aside);
  const adding = new Map<string, Promise<number>>();

  function keep(text: string, number: number): number {
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(text, number);
    return number;
  }

  async function insert(text: string): Promise<number> {
    // Another process may add it between the two.
    const number = (await ADD.get(aside, text))?.number ?? (await known(text));
    if (number === undefined) throw new Error("A label was neither added nor there.");
    return keep(text, number);
  }

  /** Adds a text once, however many callers need it meanwhile. */
  async function added(text: string): Promise<number> {
    // Somebody may have added it since the look-up.
    const begun = kept.get(text) ?? adding.get(text);
    if (begun !== undefined) return begun;
    const inserted = insert(text).finally(() => adding.delete(text));
    adding.set(text, inserted);
    return inserted;
  }

  /** The number of a text, if it has one. */
  async function found(text: string): Promise<number | undefined> {
    const cached = kept.get(text);
    if (cached !== undefined) return cached;
    const number = await known(text);
    return number === undefined ? undefined : keep(text, number);
  }

  /** The number of a text that may never recur. It gets a number at the second request. */
  async function ofRepeated(text: string): Promise<number | undefined> {
    const number = await found(text);
    if (number !== undefined) return number;
    if (kept.has(text) || adding.has(text) || seen.delete(text)) return added(text);
    if (seen.size >= MOST_KEPT) seen.clear();
    seen.add(text);
    return undefined;
  }

  return {
    /** The number of a text, which gets one if it has none. */
    of: async (text: string): Promise<number> => (await found(text)) ?? added(text),
    /** Columns for a text that may never recur, and for its label: one of them is null, or both if there is no text. */
    async columns(text: string | null): Promise<readonly [text: string | null, label: number | null]> {
      const number = text === null ? undefined : await ofRepeated(text);
      return number === undefined ? [text, null] : [null, number];
    },
  };
}

interface Question {
  readonly texts: Set<string>;
  readonly answer: Promise<ReadonlyMap<string, number | null>>;
}

/**
 * Returns a function that finds the number of a text. One statement looks up all texts that wait at a time. The caller may have an
 * open transaction, and with a statement for each text it would stay open while thousands of others are answered.
 */
function prepareFind(aside: Session): (text: string) => Promise<number | undefined> {
  let next: Question | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(texts: ReadonlySet<string>, before: Promise<unknown>) {
    await before.catch(() => {});
    // Another statement looks up the texts that arrive from now on.
    next = undefined;
    const rows = await FIND.all(aside, [...texts]);
    return new Map(rows.map(({ text, number }) => [text, number]));
  }

  function begin(): Question {
    const texts = new Set<string>();
    const answer = ask(texts, last);
    last = answer;
    return { texts, answer };
  }

  return async (text) => {
    next ??= begin();
    next.texts.add(text);
    return (await next.answer).get(text) ?? undefined;
  };
}
