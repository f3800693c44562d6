import type { Delivery } from "../callback/callback.ts";

/** Why the service could not read an address that a caller named. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  constructor(
    readonly reason: "forbidden" | "unreachable" | "bad_status" | "too_large" | "timeout",
    /** Safe to show the caller who named the address. */
    message: string,
    cause?: unknown,
    /** Of a `bad_status`, unless something else was wrong with the answer. */
    readonly status?: number,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The body and headers to POST to a callback's address, in addition to the headers of every callback. */
export interface CallbackPost {
  /** JSON. */
  readonly body: string;
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** Why a URL may not be asked. */
export interface EgressRefusal {
  /** To put after the field's name. */
  readonly clause: string;
  /** Whether the setting `egress.allow` would let it through. */
  readonly isAllowable: boolean;
}

/** A response that was read completely. */
export interface EgressAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * The only way to reach addresses that callers named. Every address that a name resolves to is checked, and the connection goes
 * to a checked address. Size and time of every read are limited. No cookies, no proxy from the environment.
 */
export interface Egress {
  /**
   * Why this URL is refused without a look-up (scheme, user info, port, a literal address that is not public); undefined when it
   * may be tried. Media files are fetched and services are called only over
   * https, except at addresses that the operator allows.
   */
  refusal(url: string, use?: "callback" | "media" | "service"): EgressRefusal | undefined;
  /** The bytes of a media file; redirects are followed at most five times, each hop checked. @throws EgressError */
  fetchMedia(
    url: string,
    options: {
      maxBytes: number;
      signal: AbortSignal;
      /** The `Accept` header; types of media unless given. */
      accept?: string | undefined;
      /** Until the answer's headers, the longest pause, and for the whole file; those of callers' files unless given. */
      limits?: { readonly answerMs: number; readonly idleMs: number; readonly totalMs: number } | undefined;
    },
  ): Promise<AsyncIterable<Uint8Array>>;
  /** POSTs a JSON body; follows no redirect, reads at most 64 KB of the answer, never throws. */
  deliver(url: string, post: CallbackPost, signal: AbortSignal): Promise<Delivery>;
  /**
   * POSTs JSON to a service that the operator named, and reads its whole answer. Follows no redirect; `signal` limits the time.
   * @throws EgressError
   */
  ask(
    url: string,
    post: CallbackPost,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<EgressAnswer>;
}
