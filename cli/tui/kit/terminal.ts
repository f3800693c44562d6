import { writeSync } from "node:fs";
import { EXIT } from "../../exit-codes.ts";

/** The size of a terminal in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What a terminal is taken for that does not tell its size. */
const USUAL_SIZE: Size = { columns: 80, rows: 24 };
/** More than any screen has; a terminal that claims more is not believed. */
const LARGEST_SIZE: Size = { columns: 1_000, rows: 400 };

const ESC = "\u001b";
/** The other screen, empty, without a cursor. A line longer than the terminal does not go on in the next one. Pasted text is marked. */
const ENTER = `${ESC}[?1049h${ESC}[?7l${ESC}[?25l${ESC}[?2004h${ESC}[H${ESC}[2J`;
/** Begins by ending a command that may have been cut in its middle, and a frame that may be half drawn. */
const LEAVE = `${ESC}\\${ESC}[?2026l${ESC}[?2004l${ESC}[0m${ESC}[?7h${ESC}[?25h${ESC}[?1049l`;
/** Goes to the first cell and erases everything. */
export const ERASE = `${ESC}[H${ESC}[2J`;

/** Signals that end a process, and the exit codes that shells give them. */
const DEADLY = { SIGHUP: 129, SIGTERM: EXIT.terminated } as const;

/** The size of the terminal behind a stream, within reason. */
export function sizeOf(stream: { readonly columns?: number; readonly rows?: number }): Size {
  const within = (value: number | undefined, name: keyof Size) =>
    value === undefined || value <= 0 ? USUAL_SIZE[name] : Math.min(value, LARGEST_SIZE[name]);
  return { columns: within(stream.columns, "columns"), rows: within(stream.rows, "rows") };
}

/** Whether a screen can be drawn and keys be read: both streams are terminals, of a kind that can move its cursor. */
export function canDraw(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.stdout.isTTY === true && process.stdin.isTTY === true && env.TERM !== "dumb";
}

/** A terminal that shows the other screen until it is left. */
export interface TakenTerminal {
  /** The terminal as Ink writes to it: with a believable size, and silent once it is left. */
  readonly stdout: NodeJS.WriteStream;
  /** Gives the terminal back and stops this job, as Ctrl-Z does elsewhere; returns when it goes on, with the terminal taken again. */
  readonly suspend: () => void;
  /** Resolves when the terminal is as it was and everything is written. */
  leave(): Promise<void>;
}

/**
 * Takes the terminal over, and gives it back on every way out: `leave`, `process.exit`, a deadly signal, an error that nobody catches.
 * @param stopDrawing ends whatever draws; called once, before the terminal is given back
 */
export function takeTerminal(stopDrawing: () => void): TakenTerminal {
  const { stdout, stdin } = process;
  let isLeft = false;
  let left: Promise<void> | undefined;
  /** @returns whether it was there to be left */
  const stop = (): boolean => {
    if (isLeft) return false;
    isLeft = true;
    try {
      stopDrawing();
    } finally {
      setMode(stdin, "usual");
      stdin.pause();
      forget();
    }
    return true;
  };
  const leaveNow = () => {
    if (stop()) writeNow(LEAVE);
  };
  const onError = (error: unknown) => {
    leaveNow();
    // A terminal that is gone may be written to before the signal tells it.
    if (error instanceof Error && "code" in error && error.code === "EIO") process.exit(DEADLY.SIGHUP);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(EXIT.error);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    leaveNow();
    process.exit(DEADLY[signal as keyof typeof DEADLY]);
  };
  const listeners = [
    ["exit", leaveNow],
    ["uncaughtException", onError],
    ["unhandledRejection", onError],
    ["SIGCONT", takeAgain],
    ...Object.keys(DEADLY).map((signal) => [signal, onSignal] as const),
  ] as const;
  for (const [event, listener] of listeners) process.on(event, listener);
  const forget = () => {
    for (const [event, listener] of listeners) process.off(event, listener);
  };
  // Before anything is drawn: what is typed from then on is read as keys.
  stdin.setRawMode(true);
  stdout.write(ENTER);
  return {
    stdout: drawable(stdout, () => isLeft),
    suspend: () => isLeft || suspendJob(),
    leave() {
      left ??= new Promise<void>((resolve) => {
        // After what is still to be written.
        if (stop()) stdout.write(LEAVE, () => resolve());
        else resolve();
      });
      return left;
    },
  };
}

/** @returns whether the terminal still exists: a closed one has no modes */
function setMode(stdin: NodeJS.ReadStream, mode: "raw" | "usual"): boolean {
  try {
    if (stdin.isTTY) stdin.setRawMode(mode === "raw");
    return true;
  } catch {
    return false;
  }
}

/** Stops all processes of the job, as the terminal would. The system stops none that no shell could bring back. */
function suspendJob(): void {
  if (!setMode(process.stdin, "usual")) return;
  writeNow(LEAVE);
  process.kill(0, "SIGTSTP");
  takeAgain();
}

/** After the shell has resumed the process, because another program may have left the terminal in a different state. */
function takeAgain(): void {
  const { stdout, stdin } = process;
  // A hang-up wakes the process, too, before it is told of it.
  if (!setMode(stdin, "usual") || !setMode(stdin, "raw")) return;
  stdout.write(ENTER);
  stdout.emit("resize");
}

/** Without waiting for anything: the process is about to end. A terminal that is gone needs no more. */
function writeNow(text: string): void {
  try {
    writeSync(process.stdout.fd, text);
  } catch {
    return;
  }
}

function drawable(stdout: NodeJS.WriteStream, isLeft: () => boolean): NodeJS.WriteStream {
  return new Proxy(stdout, {
    get(target, name) {
      if (name === "columns" || name === "rows") return sizeOf(target)[name];
      if (name === "write" && isLeft()) return written;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Drops text that nobody wants any more. */
function written(_text: unknown, done?: unknown): boolean {
  if (typeof done === "function") done();
  return true;
}
