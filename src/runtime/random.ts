import type { Random } from "../domain/ports/runtime.ts";

/** For jitter; never for secrets. */
export const systemRandom: Random = () => Math.random();
