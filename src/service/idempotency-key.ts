import { AppError } from "../domain/errors.ts";
import { isIdempotencyKey } from "../domain/task/idempotency.ts";

/** @throws AppError `invalid_idempotency_key` */
export function checkIdempotencyKey(key: string): void {
  if (isIdempotencyKey(key)) return;
  const facts = { kind: "idempotency_key_unusable", length: key.length } as const;
  throw new AppError("invalid_idempotency_key", facts);
}
