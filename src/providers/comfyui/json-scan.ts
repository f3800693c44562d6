const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const COMMA = 0x2c;

/** Longer texts are cut: what is looked for are names and ids. */
const MOST_BYTES = 300;

/** Takes what a scan comes by. Depth 1 is inside the outermost value. */
export interface ScanTaker {
  /** Whether a text in this depth is wanted. @param index how many entries of the same list or object came before it */
  wants(depth: number, index: number): boolean;
  text(depth: number, text: string): void;
  /** A list or an object ends. @param depth of what was in it */
  closed(depth: number): void;
}

/**
 * Goes through JSON text of any length as it arrives, and keeps nothing of it. Does not check that it is JSON.
 *
 * @returns how to feed it, which says whether the outermost value has ended
 */
export function createJsonScan(to: ScanTaker): (piece: Uint8Array) => boolean {
  /** Entries so far of each list and object that is open. */
  const indexes: number[] = [];
  let isInText = false;
  let isEscaped = false;
  let isOver = false;
  let kept: number[] | undefined;

  const endText = (depth: number) => {
    isInText = false;
    if (kept !== undefined) to.text(depth, Buffer.from(kept).toString("utf8"));
    kept = undefined;
  };

  return (piece) => {
    for (const byte of piece) {
      const depth = indexes.length;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          endText(depth);
          continue;
        }
        if (kept !== undefined && kept.length < MOST_BYTES) kept.push(byte);
      } else if (byte === QUOTE) {
        isInText = true;
        kept = to.wants(depth, indexes[depth - 1] ?? 0) ? [] : undefined;
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) indexes.push(0);
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        indexes.pop();
        to.closed(depth);
        isOver = depth === 1;
      } else if (byte === COMMA && depth > 0) indexes[depth - 1] = (indexes[depth - 1] ?? 0) + 1;
    }
    return isOver;
  };
}
