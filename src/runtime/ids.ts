import { TypeID } from "typeid-js";
import type { IdByPrefix, IdPrefix, LeaseToken } from "../domain/ids.ts";
import type { Clock, Ids } from "../domain/ports/runtime.ts";

/** TypeIDs of UUIDv7s that carry the clock's time; asset ids, being capabilities, of 128 random bits. */
export function createIds(clock: Pick<Clock, "now">): Ids {
  return {
    create<P extends IdPrefix>(prefix: P): IdByPrefix[P] {
      const bytes =
        prefix === "asset"
          ? crypto.getRandomValues(new Uint8Array(16))
          : Bun.randomUUIDv7("buffer", clock.now());
      // The prefix decides the brand, and this is the one place that makes ids.
      return TypeID.fromUUIDBytes(prefix, bytes).toString() as string as IdByPrefix[P];
    },
    leaseToken: () => Bun.randomUUIDv7("base64url", clock.now()) as LeaseToken,
  };
}
