/** What the container of an image says, read without decoding a pixel. */
export interface ImageLayout {
  /** As coded, before any orientation is applied. The larger, where a file names two sizes. */
  readonly width: number;
  readonly height: number;
  /** EXIF orientation, 1 (upright) to 8. */
  readonly orientation: number;
  /** Ink components; 4 is CMYK or RGB with transparency, depending on the format. */
  readonly isCmyk: boolean;
  /** Whether pixels can be transparent. */
  readonly hasAlpha: boolean;
  /** Whether it is decoded as a whole, with all its pixels in memory; else row by row. */
  readonly isWhole: boolean;
  /** The packed colour profile of a PNG, which must be checked before anything unpacks it. */
  readonly profile?: Uint8Array | undefined;
  /** Whether it holds a C2PA manifest, by which its maker signs where it comes from. */
  readonly isSigned: boolean;
  /** Where the image ends; what follows is not part of it. */
  readonly end: number;
  /** The same image without metadata: parts of the file in order, joined to a whole file. */
  readonly clean: readonly Uint8Array[];
}

/** Adds a range of the file. Merges it with the part before when they touch. */
export function appendPart(parts: Uint8Array[], file: Uint8Array, from: number, to: number): void {
  const last = parts.at(-1);
  const lastStart = last === undefined ? 0 : last.byteOffset - file.byteOffset;
  if (last !== undefined && lastStart + last.length === from) {
    parts[parts.length - 1] = file.subarray(lastStart, to);
  } else parts.push(file.subarray(from, to));
}

/** Collects ranges of a file, which become parts only at the end: a file may have tens of thousands that touch. */
export function createParts(file: Uint8Array) {
  /** Where each begins and ends. */
  const bounds: number[] = [];
  return {
    add(from: number, to: number): void {
      if (bounds.length > 0 && bounds.at(-1) === from) bounds[bounds.length - 1] = to;
      else bounds.push(from, to);
    },
    all(): Uint8Array[] {
      const parts: Uint8Array[] = [];
      for (let i = 0; i < bounds.length; i += 2) parts.push(file.subarray(bounds[i], bounds[i + 1]));
      return parts;
    },
  };
}

/** Joins parts of `file`; the file itself, without copying, when they are all of it. */
export function joinParts(parts: readonly Uint8Array[], file: Uint8Array): Uint8Array {
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  const isWhole = total === file.length && parts.every((part) => part.buffer === file.buffer);
  if (isWhole) return file;
  return Bun.concatArrayBuffers([...parts], total, true);
}
