import { createTurns } from "./next-turn.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** Receives the content of one long string of a JSON text, unescaped and in pieces. */
export interface LongString {
  /** @param text undefined where the string is no JSON; nothing further is given then */
  append(text: string | undefined): Promise<void> | void;
  /** Ends the string. @returns what stands in the text for it */
  end(): Promise<string> | string;
}

export interface LongStringOptions {
  /** Raw bytes from which on a string is long. */
  readonly longFrom: number;
  /**
   * Decides about a string that turns out to be long, from its beginning. What it returns receives the whole string;
   * undefined leaves the string in the text.
   */
  readonly open: (beginning: string) => Promise<LongString | undefined> | LongString | undefined;
  /** The most bytes that the text may have without its long strings. */
  readonly maxTextBytes: number;
  readonly tooLong: () => Error;
}

export interface LongStringReader {
  /** Resolves when the piece was read; pieces may be large, the event loop is not held. */
  feed(piece: Uint8Array): Promise<void>;
  /** The whole text, with a short placeholder for each long string. */
  text(): Buffer;
}

/** Work is done on so many bytes at once. */
const PIECE_BYTES = 64 * 1024;

/** Reads JSON text in pieces, and extracts long strings as they arrive. Does not check that it is JSON. */
export function createLongStringReader(options: LongStringOptions): LongStringReader {
  const text = createText(options);
  const scan = createScanner(options.longFrom);
  const turn = createTurns();
  let long: ReturnType<typeof createContent> | undefined;

  async function readText(piece: Buffer): Promise<number> {
    const { read, longAt } = scan(piece, text.length());
    text.add(piece.subarray(0, read));
    if (longAt !== undefined) await openLong(longAt);
    return read;
  }

  async function openLong(at: number): Promise<void> {
    const raw = text.from(at);
    const { end } = scanContent(raw);
    const beginning = unescaped(raw.subarray(0, end));
    const taker = beginning === undefined ? undefined : await options.open(beginning);
    if (taker === undefined) return;
    long = createContent(taker, Buffer.from(raw.subarray(end)));
    text.cutTo(at);
    await taker.append(beginning);
  }

  async function readLong(content: ReturnType<typeof createContent>, piece: Buffer): Promise<number> {
    const { read, isOver } = await content.take(piece);
    if (!isOver) return read;
    text.add(Buffer.from(JSON.stringify(await content.end()).slice(1, -1)));
    long = undefined;
    // The quote that ends it is read as text.
    return read;
  }

  async function feed({ buffer, byteOffset, byteLength }: Uint8Array): Promise<void> {
    for (let at = 0; at < byteLength; ) {
      const piece = Buffer.from(buffer, byteOffset + at, Math.min(PIECE_BYTES, byteLength - at));
      const read = long === undefined ? await readText(piece) : await readLong(long, piece);
      at += read;
      const pause = turn(read);
      if (pause !== undefined) await pause;
    }
  }

  return { feed, text: () => text.from(0) };
}

/** Looks at JSON text that arrives in pieces, up to where a string turns out to be long. */
function createScanner(longFrom: number) {
  let isInString = false;
  let isEscaped = false;
  /** Where the string began; undefined once it turned out to be long. */
  let startedAt: number | undefined;

  /** @param offset of the piece in the text. @returns how many bytes were read, and where a string began that is long from here */
  return (piece: Buffer, offset: number): { read: number; longAt?: number } => {
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i];
      if (!isInString) {
        if (byte !== QUOTE) continue;
        isInString = true;
        startedAt = offset + i + 1;
        continue;
      }
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
      if (startedAt === undefined || isEscaped || !isInString) continue;
      if (offset + i + 1 - startedAt < longFrom) continue;
      const longAt = startedAt;
      startedAt = undefined;
      return { read: i + 1, longAt };
    }
    return { read: piece.length };
  };
}

/** The text that is kept: a buffer that grows. */
function createText({ maxTextBytes, tooLong, longFrom }: LongStringOptions) {
  let bytes = Buffer.allocUnsafe(longFrom * 2);
  let length = 0;
  return {
    length: () => length,
    from: (at: number) => bytes.subarray(at, length),
    cutTo: (at: number) => {
      length = at;
    },
    add(part: Uint8Array): void {
      if (length + part.length > maxTextBytes + longFrom) throw tooLong();
      if (length + part.length > bytes.length) {
        const grown = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + part.length));
        grown.set(bytes.subarray(0, length));
        bytes = grown;
      }
      bytes.set(part, length);
      length += part.length;
    },
  };
}

/** Passes the content of one string on, up to the quote that ends it. @param begun an escape that goes on in what follows */
function createContent(taker: LongString, begun: Buffer) {
  let isBroken = false;

  async function take(part: Buffer): Promise<{ read: number; isOver: boolean }> {
    const before = begun.length;
    const piece = before === 0 ? part : Buffer.concat([begun, part]);
    const { end, isOver } = scanContent(piece);
    begun = isOver ? NOTHING : Buffer.from(piece.subarray(end));
    if (!isBroken && end > 0) {
      const text = unescaped(piece.subarray(0, end));
      isBroken = text === undefined;
      await taker.append(text);
    }
    return { read: isOver ? end - before : part.length, isOver };
  }

  return { take, end: () => taker.end() };
}

const NOTHING = Buffer.alloc(0);

/** Where the string ends, or the last escape that is not whole; the bytes begin outside of an escape. */
function scanContent(piece: Buffer): { end: number; isOver: boolean } {
  if (!piece.includes(BACKSLASH)) {
    const quote = piece.indexOf(QUOTE);
    return { end: quote === -1 ? piece.length : quote, isOver: quote !== -1 };
  }
  let escapedAt = -1;
  for (let i = 0; i < piece.length; i++) {
    const byte = piece[i];
    if (byte === QUOTE) return { end: i, isOver: true };
    if (byte === BACKSLASH) escapedAt = i++;
  }
  const isWhole = escapedAt === -1 || escapedAt + (piece[escapedAt + 1] === LOWER_U ? 6 : 2) <= piece.length;
  return { end: isWhole ? piece.length : escapedAt, isOver: false };
}

/** The string whose raw bytes these are; undefined when they are none. */
function unescaped(raw: Buffer): string | undefined {
  if (!raw.includes(BACKSLASH)) return raw.toString("latin1");
  try {
    return JSON.parse(`"${raw.toString("latin1")}"`) as string;
  } catch {
    return undefined;
  }
}
