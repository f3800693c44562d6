import type { KeyId } from "../ids.ts";
import { MAX_IDEMPOTENCY_KEY } from "../limits.ts";

/** One use of an `Idempotency-Key`: scoped to API key and endpoint. */
export interface IdempotencyClaim {
  readonly keyId: KeyId;
  /** `POST /v1/images/generations`. */
  readonly endpoint: string;
  readonly key: string;
  /** SHA-256 of the body's RFC 8785 canonical JSON: equal when bodies are equivalent. */
  readonly fingerprint: string;
  readonly expiresAt: number;
}

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** Whether a header value may serve as an idempotency key: 1-255 printable ASCII characters. */
export function isIdempotencyKey(value: string): boolean {
  return value.length >= 1 && value.length <= MAX_IDEMPOTENCY_KEY && PRINTABLE_ASCII.test(value);
}
