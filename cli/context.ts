/** One of the two streams a command writes to. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Characters in a line; undefined off a terminal. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** What a command knows of the process it runs in. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** For data. */
  readonly stdout: Sink;
  /** For talk. */
  readonly stderr: Sink;
  /** Makes Ctrl-C abort the returned signal in place of ending the process; a second one ends it. */
  interruptible(): AbortSignal;
}
