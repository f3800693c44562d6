import type { Delivery } from "../callback/callback.ts";

/** Why an address named by a caller could not be read. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  constructor(
    readonly reason: "forbidden" | "unreachable" | "bad_status" | "too_large" | "timeout",
    /** Safe to show the caller who named the address. */
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** What is POSTed to a callback's address, beside the headers every callback has. */
export interface CallbackPost {
  /** JSON. */
  readonly body: string;
  readonly headers?: { readonly [name: string]: string } | undefined;
}

/** An answer that was read whole. */
export interface EgressAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * The one way to reach addresses that callers named: every address a name resolves to is checked, the connection goes to the
 * address that was checked, nothing is read without limits of size and time, no cookies, no proxy from the environment.
 */
export interface Egress {
  /**
   * Why this URL can be refused without looking anything up (scheme, user info, port, a literal address that is not public),
   * as a clause to put after the field's name; undefined when it may be tried. Media files are only fetched over https, except
   * from addresses the operator lets through, and services are only asked there or over https.
   */
  refusal(url: string, use?: "callback" | "media" | "service"): string | undefined;
  /** The bytes of a media file; redirects are followed at most five times, each hop checked. @throws EgressError */
  fetchMedia(
    url: string,
    options: {
      maxBytes: number;
      signal: AbortSignal;
      /** The `Accept` header; types of media unless given. */
      accept?: string | undefined;
    },
  ): Promise<AsyncIterable<Uint8Array>>;
  /** POSTs a JSON body; follows no redirect, reads at most 64 KB of the answer, never throws. */
  deliver(url: string, post: CallbackPost, signal: AbortSignal): Promise<Delivery>;
  /**
   * POSTs JSON to a service that the operator named, and reads its answer whole. Follows no redirect; `signal` is the limit of time.
   * @throws EgressError
   */
  ask(
    url: string,
    post: CallbackPost,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<EgressAnswer>;
}
