/** Lets all other waiting work run first: timers, sockets, other requests. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Work on more bytes than this is spread over several turns of the event loop. A turn takes a few milliseconds. */
const BYTES_A_TURN = 512 * 1024;

/** Counts bytes worked on, and ends the turn when they are many. */
export function createTurns(bytesATurn = BYTES_A_TURN): (bytes: number) => Promise<void> | undefined {
  let worked = 0;
  return (bytes) => {
    worked += bytes;
    if (worked < bytesATurn) return undefined;
    worked = 0;
    return nextTurn();
  };
}
