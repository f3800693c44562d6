import { type Alphabet, OTHER } from "./alphabet.ts";
import { foldCharacter, isJoining } from "./fold.ts";

/** What the table has for a character that is not one or two symbols. */
const [UNMET, UNSEEN, JOINING, SPELLED, KNOWN] = [0, 1, 2, 3, 4];
/** The table has two symbols of a character in these many bits each. */
const BITS = 12;
const MASK = 2 ** BITS - 1;

/** Characters of a usual text. A longer one has a buffer of its own. */
const USUAL_LENGTH = 16 * 1024;

/** Symbols, of which the first `count` were read. They are there until the next reading. */
export interface Read {
  readonly symbols: Uint16Array;
  readonly count: number;
}

/**
 * Creates what translates texts into symbols, which say nothing of case, accents and width. What it reads ends with a symbol that belongs to no
 * word.
 */
export function createReader({ symbolsOf }: Pick<Alphabet, "symbolsOf">): (text: string) => Read {
  /** By UTF-16 unit, filled as characters are met: `KNOWN` and the symbol, above it the second one, if any. */
  const table = new Uint32Array(65_536);
  /** By code point. */
  const spelled = new Map<number, readonly number[]>();
  const usual = new Uint16Array(2 * USUAL_LENGTH + 1);

  function spell(point: number): readonly number[] {
    const symbols = [...foldCharacter(String.fromCodePoint(point))].flatMap(symbolsOf);
    spelled.set(point, symbols);
    return symbols;
  }

  function learn(point: number): number {
    const symbols = spell(point);
    const [first, second = 0] = symbols;
    const isShort = symbols.length <= 2 && point <= 0xffff;
    const short = first === undefined ? UNSEEN : KNOWN + first + (second << BITS);
    const known = isJoining(point) ? JOINING : isShort ? short : SPELLED;
    table[String.fromCodePoint(point).charCodeAt(0)] = known;
    return known;
  }

  return function read(text: string, isJoined = false): Read {
    let symbols: Uint16Array = text.length <= USUAL_LENGTH ? usual : new Uint16Array(2 * text.length + 1);
    let count = 0;
    for (let i = 0; i < text.length; i++) {
      let known = table[text.charCodeAt(i)] as number;
      if (known === UNMET) known = learn(text.codePointAt(i) as number);
      if (known >= KNOWN) {
        symbols[count++] = (known - KNOWN) & MASK;
        if (known > MASK) symbols[count++] = known >>> BITS;
      } else if (known !== UNSEEN) {
        if (known === JOINING && !isJoined) return read(text.normalize("NFKC"), true);
        const point = text.codePointAt(i) as number;
        const several = spelled.get(point) ?? spell(point);
        if (point > 0xffff) i++;
        symbols = withRoom(symbols, count + several.length + 2 * (text.length - i) + 1);
        for (let j = 0; j < several.length; j++) symbols[count++] = several[j] as number;
      }
    }
    symbols[count++] = OTHER;
    return { symbols, count };
  };
}

function withRoom(symbols: Uint16Array, length: number): Uint16Array {
  if (symbols.length >= length) return symbols;
  const grown = new Uint16Array(2 * length);
  grown.set(symbols);
  return grown;
}
