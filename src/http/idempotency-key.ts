import { AppError } from "../domain/errors.ts";

/** A separator with which repeated headers arrive as one. */
const BETWEEN_HEADERS = ", ";

/**
 * The `Idempotency-Key` of a request; the same key twice counts once.
 * @throws AppError `invalid_idempotency_key` for two different keys, and for a key that looks like two
 */
export function idempotencyKeyOf({ headers }: Request): string | undefined {
  const given = headers.get("idempotency-key") ?? undefined;
  if (given?.includes(BETWEEN_HEADERS) !== true) return given;
  const [first, ...others] = given.split(BETWEEN_HEADERS);
  if (others.every((each) => each === first)) return first;
  throw new AppError("invalid_idempotency_key", { kind: "idempotency_keys_differ" });
}
