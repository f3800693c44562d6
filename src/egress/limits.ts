/** Time and size limits of one outgoing request. */
export interface EgressLimits {
  /** For a media file: from the start to the answer's headers, look-up and connection included. */
  readonly mediaAnswerMs: number;
  /** The longest pause in a media file's body. */
  readonly mediaIdleMs: number;
  /** For a whole media file, redirects included. */
  readonly mediaTotalMs: number;
  readonly mediaRedirects: number;
  /** For a callback: to look up, connect, send and get an answer. */
  readonly callbackMs: number;
  /** For the body of the answer, which is read only so that the receiver sees its answer arrive. */
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
