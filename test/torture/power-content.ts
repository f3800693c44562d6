import type { Dice } from "./dice.ts";

/** A change of a file's content. */
type Change = { endedAt?: number } & (
  | { readonly kind: "bytes"; readonly at: number; bytes: Uint8Array }
  | { readonly kind: "length"; readonly length: number }
);

/** What a power cut may leave of changes that were not flushed; some twice as often. */
export const SURVIVALS = ["none", "some", "some", "all"] as const;
export type Survival = (typeof SURVIVALS)[number];

/** What disks write as a whole. */
const SECTOR_BYTES = 512;
const PAGE_BYTES = 4_096;

/** The content of a file: what is on the disk for certain, and what was changed since. */
export class Content {
  readonly #durable: Bytes;
  #changes: Change[] = [];
  /** As processes see it. */
  length: number;

  constructor(durable: Uint8Array = new Uint8Array()) {
    this.#durable = new Bytes(durable);
    this.length = durable.length;
  }

  /** @returns what to call when it has ended, with the number of that event and how many bytes were written */
  write(at: number, bytes: Uint8Array): (endedAt: number, count: number) => void {
    const change: Change = { kind: "bytes", at, bytes };
    this.#changes.push(change);
    this.length = Math.max(this.length, at + bytes.length);
    return (endedAt, count) => {
      change.endedAt = endedAt;
      change.bytes = bytes.subarray(0, Math.max(0, count));
    };
  }

  resize(length: number, endedAt: number): void {
    this.#changes.push({ kind: "length", length, endedAt });
    this.length = length;
  }

  /** What had ended before that event is on the disk now. */
  flush(before: number): void {
    const isFlushed = ({ endedAt }: Change) => endedAt !== undefined && endedAt < before;
    for (const change of this.#changes.filter(isFlushed)) this.#durable.apply(change);
    this.#changes = this.#changes.filter((change) => !isFlushed(change));
  }

  /** How many changes were not flushed. */
  get unflushed(): number {
    return this.#changes.length;
  }

  /**
   * What a power cut leaves: of the changes of each page the first few, of some pages none and of some all. A change of the length
   * is there only with those before it, and nothing that came after one that is missing.
   */
  left(dice: Dice, survival: Survival): Uint8Array {
    const content = new Bytes(this.#durable.read());
    const changes = survival === "none" ? [] : this.#changes;
    if (survival === "some") keepSome(content, changes, dice);
    else for (const change of changes) content.apply(change);
    return content.read();
  }
}

function keepSome(content: Bytes, changes: readonly Change[], dice: Dice): void {
  const resizes = [...changes.keys()].filter((i) => changes[i]?.kind === "length");
  const firstMissing = resizes[dice.between(0, resizes.length)] ?? changes.length;
  const unit = dice.chance(0.5) ? SECTOR_BYTES : PAGE_BYTES;
  const parts = changes.slice(0, firstMissing).flatMap((change) => partsOf(change, unit));
  const ofPage = Map.groupBy(parts, ({ page }) => page);
  const kept = new Set([...ofPage.values()].flatMap((all) => all.slice(0, dice.between(0, all.length))));
  for (const part of parts) if (part.page === undefined || kept.has(part)) content.apply(part.change);
}

/** The parts of a change, by the pages into which they fall. */
function partsOf(
  change: Change,
  unit: number,
): { readonly page: number | undefined; readonly change: Change }[] {
  if (change.kind === "length") return [{ page: undefined, change }];
  const { at, bytes } = change;
  const [first, last] = [Math.floor(at / unit), Math.floor((at + bytes.length - 1) / unit)];
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const page = first + i;
    const from = Math.max(at, page * unit);
    const part = bytes.subarray(from - at, (page + 1) * unit - at);
    return { page, change: { kind: "bytes", at: from, bytes: part } };
  });
}

/** Bytes that are changed in place. */
class Bytes {
  #room: Uint8Array;
  #length: number;

  constructor(from: Uint8Array) {
    this.#room = from.slice();
    this.#length = from.length;
  }

  apply(change: Change): void {
    if (change.kind === "length") this.#resize(change.length);
    else {
      this.#resize(Math.max(this.#length, change.at + change.bytes.length));
      this.#room.set(change.bytes, change.at);
    }
  }

  read(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  #resize(length: number): void {
    if (length > this.#room.length) {
      const room = new Uint8Array(length * 2);
      room.set(this.read());
      this.#room = room;
    }
    // What lay behind the end of a file that was cut off is gone.
    if (length < this.#length) this.#room.fill(0, length, this.#length);
    this.#length = length;
  }
}
