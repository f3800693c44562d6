/*
 * The tar archives of a backup: only regular files, in the ustar form that every tar reads. A pax header precedes a path that does
 * not fit into its fields, and a file of 8 GiB or more (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, checked
 * 2026-11-23).
 */

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const LARGEST_OCTAL = 0o77777777777;
/** Of a pax header: far more than a path and a size take. */
const MOST_PAX_BYTES = 64 * 1024;
const encoder = new TextEncoder();
const REGULAR = "0";
const PAX = "x";

export interface TarEntry {
  readonly path: string;
  readonly sizeBytes: number;
}

/** The header of a file; its content follows, filled up to a whole block. */
export function tarHeader({ path, sizeBytes }: TarEntry, atMs: number): Uint8Array {
  const name = encoder.encode(path);
  const isPlain = name.length <= NAME_BYTES && sizeBytes <= LARGEST_OCTAL && /^[\x20-\x7e]*$/.test(path);
  if (isPlain) return block(name, sizeBytes, REGULAR, atMs);
  const records = encoder.encode(record("path", path) + record("size", String(sizeBytes)));
  return Buffer.concat([
    block(encoder.encode("pax"), records.length, PAX, atMs),
    records,
    padding(records.length),
    block(name.subarray(0, NAME_BYTES), Math.min(sizeBytes, LARGEST_OCTAL), REGULAR, atMs),
  ]);
}

/** What fills content up to a whole block. */
export function padding(sizeBytes: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** The two empty blocks that end an archive. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * BLOCK_BYTES);
}

function block(name: Uint8Array, sizeBytes: number, type: string, atMs: number): Uint8Array {
  const bytes = new Uint8Array(BLOCK_BYTES);
  const put = (at: number, text: string) => bytes.set(encoder.encode(text), at);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  bytes.set(name, 0);
  put(100, octal(0o600, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(sizeBytes, 11));
  put(136, octal(Math.max(0, Math.floor(atMs / 1000)), 11));
  put(156, type);
  put(257, "ustar\0" + "00");
  put(148, `${checksum(bytes).toString(8).padStart(6, "0")}\0 `);
  return bytes;
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checksum(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

/** `27 path=…\n`: its length counts itself. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = encoder.encode(rest).length;
  let total = length + String(length).length;
  if (String(total).length !== String(length).length) total = length + String(total).length;
  return total + rest;
}

/** The archive is truncated, is no archive, or contains anything other than files. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/**
 * Reads an archive.
 *
 * @param onFile receives each file with its content, which it has to read to the end
 * @throws TarError for one that is cut off, is none, or has links, folders or devices
 */
export async function readTar(
  source: AsyncIterable<Uint8Array>,
  onFile: (entry: TarEntry, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const input = createInput(source);
  let given: Map<string, string> | undefined;
  for (;;) {
    const header = await input.take(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    const entry = readHeader(header);
    if (entry.type === PAX) {
      given = readRecords(await takeSmall(input, entry.sizeBytes));
      continue;
    }
    if (entry.type !== REGULAR)
      throw new TarError(`${entry.path} is no file, and a backup has nothing else in it`);
    const sizeBytes = given?.has("size") === true ? Number(given.get("size")) : entry.sizeBytes;
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new TarError("a size in it is none");
    await onFile({ path: given?.get("path") ?? entry.path, sizeBytes }, input.pieces(sizeBytes));
    await input.take(padding(sizeBytes).length);
    given = undefined;
  }
  // Reads the rest, so that the program that writes it does not end with an error.
  await input.drain();
}

async function takeSmall(input: ReturnType<typeof createInput>, sizeBytes: number): Promise<Uint8Array> {
  if (sizeBytes > MOST_PAX_BYTES) throw new TarError("a header in it is too large");
  const bytes = await input.take(sizeBytes);
  await input.take(padding(sizeBytes).length);
  return bytes;
}

function readHeader(bytes: Uint8Array): TarEntry & { readonly type: string } {
  const text = (at: number, length: number) =>
    (/^[^\0]*/.exec(Buffer.from(bytes.subarray(at, at + length)).toString("utf8")) ?? [""])[0];
  const octal = (at: number, length: number) => Number.parseInt(text(at, length).trim() || "0", 8);
  if (text(257, 5) !== "ustar" || octal(148, 8) !== checksum(bytes))
    throw new TarError("it is no tar archive, or a damaged one");
  const sizeBytes = octal(124, 12);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new TarError("a size in it is none");
  const prefix = text(345, 155);
  const name = text(0, NAME_BYTES);
  const type = text(156, 1) || REGULAR;
  return { path: prefix === "" ? name : `${prefix}/${name}`, sizeBytes, type };
}

function readRecords(bytes: Uint8Array): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const [head = "", digits = ""] =
      /^(\d+) /.exec(Buffer.from(bytes.subarray(at, at + 12)).toString()) ?? [];
    const length = Number(digits);
    if (head === "" || length <= head.length || at + length > bytes.length)
      throw new TarError("a header in it is damaged");
    const text = Buffer.from(bytes.subarray(at + head.length, at + length - 1)).toString("utf8");
    const equals = text.indexOf("=");
    found.set(text.slice(0, equals), text.slice(equals + 1));
    at += length;
  }
  return found;
}

/** Gives a stream of bytes in the amounts that are asked for. */
function createInput(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  let left: Uint8Array = new Uint8Array(0);

  async function next(most: number): Promise<Uint8Array> {
    while (left.length === 0) {
      const { done, value } = await iterator.next();
      if (done === true) throw new TarError("it is cut off");
      left = value;
    }
    const piece = left.subarray(0, most);
    left = left.subarray(piece.length);
    return piece;
  }

  async function* pieces(count: number): AsyncGenerator<Uint8Array> {
    for (let rest = count; rest > 0; ) {
      const piece = await next(rest);
      rest -= piece.length;
      yield piece;
    }
  }

  return {
    pieces,
    async take(count: number): Promise<Uint8Array> {
      const taken: Uint8Array[] = [];
      for await (const piece of pieces(count)) taken.push(piece.slice());
      return Buffer.concat(taken);
    },
    async drain(): Promise<void> {
      while ((await iterator.next()).done !== true);
    },
  };
}
