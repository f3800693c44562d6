import { constants, fstatSync, openSync, writeSync } from "node:fs";

const STANDARD_ERROR = 2;

/** How much waits for a reader that does not read. */
const MOST_WAITING_BYTES = 1024 * 1024;

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
  /** In the order in which they came; of the first, what is not written yet. */
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let leftOut = 0;

  function flush(): boolean {
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const written = writeSync(file, next);
        waitingBytes -= written;
        if (written === next.length) waiting.shift();
        else waiting[0] = next.subarray(written);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
      // The reader is gone. The service goes on without one.
      waiting.length = 0;
      waitingBytes = 0;
    }
    return true;
  }

  return {
    write(lines) {
      const bytes = Buffer.from(lines);
      if (!flush() && waitingBytes + bytes.length > MOST_WAITING_BYTES) {
        leftOut += lines.split("\n").length - 1;
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
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
