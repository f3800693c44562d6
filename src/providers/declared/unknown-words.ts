import type { Log } from "../../domain/ports/runtime.ts";

const WORD_SHOWN = 80;
const WORDS_KNOWN = 100;

/**
 * Logs a status word that a form does not contain, the 1st, 10th and 100th time and so on, because a lasting word comes at each
 * poll.
 */
export function createTellWord(id: string, log: Pick<Log, "warn"> | undefined): (word: string) => void {
  const counts = new Map<string, number>();
  return (word) => {
    const shown = word.slice(0, WORD_SHOWN);
    const count = (counts.get(shown) ?? 0) + 1;
    // With this many different words, the texts are no status words: they differ each time.
    if (count === 1 && counts.size >= WORDS_KNOWN) return;
    counts.set(shown, count);
    if (/^10*$/.test(String(count)))
      log?.warn(
        { provider: id, word: shown, count },
        `${id} says a status that its form does not have; the tasks count as running`,
      );
  };
}
