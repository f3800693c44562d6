import type { IdByPrefix, IdPrefix, LeaseToken } from "../domain/ids.ts";
import type { Clock, Ids } from "../domain/ports/runtime.ts";

/** TypeIDs of UUIDv7s with the clock's time. Ids of files are capabilities and hold 128 random bits instead. */
export function createIds(clock: Pick<Clock, "now">): Ids {
  return {
    create<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
      const bytes =
        prefix === "asset" || prefix === "file"
          ? crypto.getRandomValues(new Uint8Array(16))
          : Bun.randomUUIDv7("buffer", clock.now());
      // Safe: the prefix decides the brand, and only this function makes ids.
      return `${prefix}_${base32(bytes)}` as string as IdByPrefix[P];
    },
    leaseToken: () => Bun.randomUUIDv7("base64url", clock.now()) as LeaseToken,
  };
}

/** Character codes by value. */
const DIGITS = Buffer.from("0123456789abcdefghjkmnpqrstvwxyz", "latin1");
/** Where each id is written before it becomes text. */
const TEXT = Buffer.alloc(26);

/**
 * The 26 characters of a TypeID's suffix: 128 bits from the left, five to a character, the first of them only three. Every request
 * gets an id, and this takes a third of the time of the library that a test compares it with.
 *
 * Source: https://github.com/jetify-com/typeid/tree/main/spec (checked 2026-11-21).
 */
function base32(bytes: Uint8Array): string {
  let length = 0;
  let bits = 0;
  // Two zero bits in front make 128 a multiple of five.
  let count = 2;
  for (let i = 0; i < bytes.length; i++) {
    bits = (bits << 8) | (bytes[i] as number);
    count += 8;
    while (count >= 5) {
      count -= 5;
      TEXT[length++] = DIGITS[(bits >>> count) & 31] as number;
    }
    bits &= (1 << count) - 1;
  }
  return TEXT.toString("latin1");
}
