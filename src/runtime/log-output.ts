import { constants, fstatSync, openSync, writeSync } from "node:fs";

const STANDARD_ERROR = 2;

/** How much waits for a reader that does not read. */
const MOST_WAITING_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** Where the log is read. */
export interface LogOutput {
  /** @param lines whole ones */
  write(lines: string): void;
  /** Writes what waits, as far as the reader takes it. @returns whether nothing waits any more */
  flush(): boolean;
}

/**
 * Writes lines without ever waiting for whoever reads them: a terminal that somebody has stopped, a pager, a connection that was lost, or a
 * collector that hangs. A megabyte waits for its reader; lines beyond that are left out.
 *
 * @param onTakenAgain called with how many lines were left out once a reader reads again
 */
export function createLogOutput(
  onTakenAgain: (leftOut: number) => void,
  file = openStandardError(),
): LogOutput {
  let waiting = NOTHING;
  let leftOut = 0;

  function flush(): boolean {
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(file, waiting));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
      // The reader is gone. The service goes on without one.
      waiting = NOTHING;
    }
    return true;
  }

  return {
    write(lines) {
      const isRead = flush();
      if (!isRead && waiting.length + lines.length > MOST_WAITING_BYTES) {
        leftOut += lines.split("\n").length - 1;
        return;
      }
      waiting = isRead ? Buffer.from(lines) : Buffer.concat([waiting, Buffer.from(lines)]);
      flush();
    },
    flush() {
      if (!flush()) return false;
      if (leftOut === 0) return true;
      const count = leftOut;
      leftOut = 0;
      onTakenAgain(count);
      return flush();
    },
  };
}

/**
 * Standard error for writes that do not wait. Whether they do belongs to what is open, which others share: a terminal is its shell's
 * too. So terminals and pipes are opened once more where the system can.
 */
function openStandardError(): number {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    const opened = fstatSync(STANDARD_ERROR);
    // Bun's stream, once there is one, has made a socket wait for nobody. It cannot be opened again.
    if (opened.isSocket()) return process.stderr.fd;
    // A file that is opened once more is written from its beginning.
    if (!opened.isFIFO() && !opened.isCharacterDevice()) return STANDARD_ERROR;
    return openSync("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // Not on this system, or not for this user.
    return STANDARD_ERROR;
  }
}
