/** One of the two streams a command writes to. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Width in characters; undefined without a terminal, and where it does not know it. */
  readonly columns?: number | undefined;
  /** Height in lines; undefined without a terminal, and where it does not know it. */
  readonly rows?: number | undefined;
  /** Bytes are written unchanged, for output that is no text. */
  write(text: string | Uint8Array): void;
  /**
   * The same for large output: resolves when there is room for more.
   * @param isWhole a part of it is worth nothing, so that a reader who leaves is an error
   */
  writeBytes(bytes: Uint8Array, isWhole?: boolean): Promise<void>;
}

/** What a person types, or what a pipe or a file holds. */
export interface Source {
  readonly isTerminal: boolean;
  /** Reads one line, without its end. @returns undefined when there is none, or `signal` aborts before */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** Reads line by line, without their ends, until it is closed or `signal` aborts. @throws Error for a line of more than 64 MiB */
  readLines(signal: AbortSignal): AsyncIterable<string>;
  /** Reads what is left of it, to its end. */
  readAll(): Promise<Uint8Array<ArrayBuffer>>;
  /** The same as text. */
  readText(): Promise<string>;
}

/** The keys that are pressed on a terminal. What the terminal itself answers comes the same way. */
export interface Keyboard {
  /**
   * Takes all bytes, unechoed, until the returned function is called. Ctrl-C still interrupts.
   *
   * @returns undefined when the terminal belongs to another program at present
   */
  capture(onBytes: (bytes: Uint8Array) => void): (() => void) | undefined;
}

/** The process as a command sees it. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Source;
  /** For data. */
  readonly stdout: Sink;
  /** For messages. */
  readonly stderr: Sink;
  /** What is typed on the terminal; absent where standard input is none. */
  readonly keyboard?: Keyboard | undefined;
  /** Lowers the priority of this process for good: a server on the same machine goes first. */
  giveWay(): void;
  /** Makes Ctrl-C abort the returned signal instead of ending the process. A second Ctrl-C ends it. */
  interruptible(): AbortSignal;
}
