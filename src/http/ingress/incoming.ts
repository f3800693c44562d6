/** A request's body on its way in: counted as it arrives, and held to the pace that every sender keeps. */
export interface Incoming {
  /**
   * The next piece of at most a few 100 KB; undefined at the end. It frees the memory of the piece before, so whoever keeps
   * any of that copies it. Waits while there is no room for more: Bun then stops reading from
   * the connection, so that the sender waits too.
   *
   * @throws AppError `request_too_large`, or `invalid_request` when the body is cut off or comes too slowly
   */
  next(): Promise<Buffer | undefined>;
  /** Counts bytes that the reader keeps of what it has read, until it gives them back or ends. Never waits: `next` does. */
  take(bytes: number): void;
  give(bytes: number): void;
  /** Waits until there is room for a file that the reader opens, and counts it until the reader ends. */
  takeFile(): Promise<void>;
  /** What to wait for before much is computed at once; undefined when the way is free. `next` has waited for its piece already. */
  turn(): Promise<void> | undefined;
}

/** One request's way to its body. */
export interface Intake {
  /** The whole body, where it says that it is small and there is room; undefined otherwise: then it is for `receive`. */
  small(): Promise<Uint8Array> | undefined;
  /**
   * Runs `read`, which reads the body piece by piece, once there is room for one more. All that it took is given back when it ends;
   * what it leaves of the body is not read.
   *
   * @throws AppError `service_unavailable` when too many wait already; whatever `read` throws
   */
  receive<T>(maxBytes: number, read: (body: Incoming) => Promise<T>): Promise<T>;
}
