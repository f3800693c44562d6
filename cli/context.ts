/** One of the two streams a command writes to. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Width in characters; undefined without a terminal. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** What a person types. */
export interface Source {
  readonly isTerminal: boolean;
  /** Reads one line, without its end. @returns undefined when there is none */
  readLine(): Promise<string | undefined>;
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
  /** Makes Ctrl-C abort the returned signal instead of ending the process. A second Ctrl-C ends it. */
  interruptible(): AbortSignal;
}
