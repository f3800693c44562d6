/** A request's body while it arrives: counted, and held to the pace that every sender must keep. */
export interface Incoming {
  /**
   * The next piece of at most a few 100 KB; undefined at the end. It frees the memory of the previous piece, so a reader that
   * keeps any of that must copy it. Waits while there is no room for more. Bun then stops reading from the connection, so the
   * sender waits too.
   *
   * @throws AppError `request_too_large`, or `invalid_request` when the body is cut off or comes too slowly
   */
  next(): Promise<Buffer | undefined>;
  /** Counts bytes that the reader keeps, until it gives them back or ends. Never waits, because `next` does. */
  take(bytes: number): void;
  give(bytes: number): void;
  /** Waits until there is room for a file that the reader opens, and counts it until the reader ends. */
  takeFile(): Promise<void>;
  /** A promise to await before long computations; undefined if nothing is in the way. `next` has already waited for its piece. */
  turn(): Promise<void> | undefined;
}

/** Gives access to one request's body. */
export interface Intake {
  /** The whole body, if it declares a small size and there is room; otherwise undefined, and `receive` must read it. */
  small(): Promise<Uint8Array> | undefined;
  /**
   * Runs `read`, which reads the body piece by piece, once there is room for one more. Everything that it took is given back
   * when it ends. The rest of the body is not read.
   *
   * @throws AppError `service_unavailable` when too many wait already; whatever `read` throws
   */
  receive<T>(maxBytes: number, read: (body: Incoming) => Promise<T>): Promise<T>;
}
