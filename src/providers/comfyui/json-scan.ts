const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;

/** Longer texts are cut, because only names and ids are of interest. */
const MOST_BYTES = 300;

/** Receives the findings of a scan. Depth 1 is inside the outermost value. */
export interface ScanTaker {
  /** Whether a text in this depth is wanted. @param index how many entries of the same list or object came before it */
  wants(depth: number, index: number): boolean;
  /** @param text as it is written, escapes included */
  text(depth: number, text: string): void;
  /** A list or an object ends. @param depth of what was in it */
  closed(depth: number): void;
}

/**
 * Scans JSON text of any length as it arrives, without keeping it. Does not check that it is JSON.
 *
 * @returns a function that takes the next piece and says whether the outermost value has ended
 */
export function createJsonScan(to: ScanTaker): (piece: Uint8Array) => boolean {
  /** Entries so far of each list and object that is open. */
  const indexes: number[] = [];
  let text: TextScan | undefined;
  let isOver = false;

  const take = (byte: number | undefined) => {
    const depth = indexes.length;
    if (byte === QUOTE) text = createTextScan(to.wants(depth, indexes[depth - 1] ?? 0));
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) indexes.push(0);
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      indexes.pop();
      to.closed(depth);
      isOver = depth === 1;
    } else if (byte === COMMA && depth > 0) indexes[depth - 1] = (indexes[depth - 1] ?? 0) + 1;
  };

  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      if (text === undefined) {
        take(piece[at]);
        at += 1;
        continue;
      }
      const end = text.read(piece, at);
      if (end === undefined) break;
      const kept = text.kept();
      if (kept !== undefined) to.text(indexes.length, kept);
      text = undefined;
      at = end;
    }
    return isOver;
  };
}

interface TextScan {
  /** @returns what follows its end; undefined where it goes on in the next piece */
  read(piece: Uint8Array, from: number): number | undefined;
  kept(): string | undefined;
}

/** Finds the end of a text. Looking for quotes is many times faster than looking at each byte. */
function createTextScan(isWanted: boolean): TextScan {
  let isEscaped = false;
  let kept = isWanted ? Buffer.alloc(0) : undefined;
  const keep = (part: Uint8Array) => {
    if (kept === undefined || kept.length >= MOST_BYTES) return;
    kept = Buffer.concat([kept, part.subarray(0, MOST_BYTES - kept.length)]);
  };
  return {
    kept: () => kept?.toString("utf8"),
    read(piece, from) {
      for (let at = from; at < piece.length; ) {
        const quote = piece.indexOf(QUOTE, at);
        const end = quote === -1 ? piece.length : quote;
        let escapes = at;
        for (let i = end - 1; i >= at && piece[i] === BACKSLASH; i -= 1) escapes += 1;
        // Backslashes that reach back to where this began go on from the escape before, if there was one.
        const count = escapes - at + (escapes === end && isEscaped ? 1 : 0);
        isEscaped = count % 2 === 1;
        keep(piece.subarray(at, end));
        if (quote === -1) return undefined;
        if (!isEscaped) return quote + 1;
        isEscaped = false;
        keep(piece.subarray(quote, quote + 1));
        at = quote + 1;
      }
      return undefined;
    },
  };
}
