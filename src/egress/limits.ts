/** How long and how much one outgoing request may take. */
export interface EgressLimits {
  /** From the start to the headers of the answer, look-up and connection included, for a media file. */
  readonly mediaAnswerMs: number;
  /** Without a single byte of it. */
  readonly mediaIdleMs: number;
  /** All of a media file, redirects included. */
  readonly mediaTotalMs: number;
  readonly mediaRedirects: number;
  /** To look up, connect, send and be answered, for a callback. */
  readonly callbackMs: number;
  /** Spent on reading an answer nobody needs, so that the receiver sees its answer taken. */
  readonly callbackDrainMs: number;
  readonly callbackAnswerBytes: number;
}

export const EGRESS_LIMITS: EgressLimits = {
  mediaAnswerMs: 15_000,
  mediaIdleMs: 15_000,
  mediaTotalMs: 300_000,
  mediaRedirects: 5,
  callbackMs: 10_000,
  callbackDrainMs: 1_000,
  callbackAnswerBytes: 64 * 1024,
};
