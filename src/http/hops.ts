import { AppError, invalid } from "../domain/errors.ts";
import { HOPS_HEADER, MAX_HOPS } from "../domain/task/hops.ts";

/**
 * How many instances of this service have passed a request on (docs/api.md 1.6).
 * @returns undefined for a request that comes directly from a caller
 * @throws AppError `loop_detected` if there were too many, `invalid_request` for a header that no instance sends
 */
export function hopsOf({ headers }: Request): number | undefined {
  const given = headers.get(HOPS_HEADER);
  if (given === null) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(given)) throw invalid({ kind: "hops_malformed", given });
  const hops = Number(given);
  if (hops < MAX_HOPS) return hops;
  throw new AppError("loop_detected", { kind: "too_many_hops", hops }, { shouldRetry: false });
}
