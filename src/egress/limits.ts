/** Time and size limits of one outgoing request. */
export const EGRESS_LIMITS = {
  /** For a media file: from the start to the answer's headers, look-up and connection included. */
  mediaAnswerMs: 15_000,
  /** The longest pause in a media file's body. */
  mediaIdleMs: 15_000,
  /** The slowest that its body may come, as of an upload: whoever sends it keeps others from a place. */
  mediaLeastBytesPerMs: 16,
  /** For a whole media file, redirects included. */
  mediaTotalMs: 300_000,
  mediaRedirects: 5,
  /** For a callback: to look up, connect, send and get an answer. */
  callbackMs: 10_000,
  /** For the body of the answer, which is read only so that the receiver sees its answer arrive. */
  callbackDrainMs: 1_000,
  callbackAnswerBytes: 64 * 1024,
};
export type EgressLimits = Readonly<typeof EGRESS_LIMITS>;
