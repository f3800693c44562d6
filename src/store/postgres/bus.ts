import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

const CHANNEL = "svc_node";
/** PostgreSQL takes payloads below 8,000 bytes (https://www.postgresql.org/docs/15/sql-notify.html, checked 2026-11-27). */
const MOST_BYTES = 7_500;
/** How soon hints are sent again that did not reach the server. */
const AGAIN_MS = 1_000;
/** Most hints that wait for that. Beyond them, the oldest are dropped. */
const MOST_WAITING = 20_000;

const TELL = statement<never, [payload: string]>(`select pg_notify('${CHANNEL}', $1) is null as told`);

export type Bus = ReturnType<typeof createBus>;

/** Messages between nodes: texts without a line feed. */
type Told = string;

/**
 * Sends hints about events to other nodes. A late or lost hint does little harm, because a waiting node also looks by itself now
 * and then. Hints of one turn of the event loop are sent together, and again if they do not reach the server. They are sent after their transactions and not within them,
 * because a notification in a transaction makes all commits of the server wait for each other.
 */
export function createBus(driver: Driver, from: string) {
  let waiting = new Set<Told>();
  let isSending = false;
  let sending = Promise.resolve();
  let again: ReturnType<typeof setTimeout> | undefined;

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const payloads = payloadsOf(from, [...waiting]);
      waiting = new Set();
      for (const [i, lines] of payloads.entries())
        try {
          await TELL.run(driver.aside, [from, ...lines].join("\n"));
        } catch {
          waiting = new Set([...payloads.slice(i).flat(), ...waiting].slice(-MOST_WAITING));
          again = setTimeout(arm, AGAIN_MS);
          again.unref();
          return;
        }
    }
  }

  function arm(): void {
    clearTimeout(again);
    again = undefined;
    if (isSending) return;
    isSending = true;
    const turn = new Promise<void>((resolve) => void setImmediate(resolve));
    sending = turn.then(send).finally(() => {
      isSending = false;
      if (waiting.size > 0 && again === undefined) arm();
    });
  }

  return {
    tell(told: Told): void {
      waiting.add(told);
      if (again === undefined) arm();
    },
    /** Tries to send all hints, once more if they did not reach the server. */
    async sent(): Promise<void> {
      if (waiting.size > 0) arm();
      while (isSending) await sending;
    },
    /** Calls `hear` for hints of other nodes, and `missed` whenever some may have been lost. */
    listen: (hear: (told: Told) => void, missed: () => void): Promise<void> =>
      driver.listen(
        CHANNEL,
        (payload) => {
          const [sender, ...lines] = payload.split("\n");
          if (sender !== from) for (const line of lines) hear(line);
        },
        missed,
      ),
  };
}

/** The lines of each notification. */
function payloadsOf(from: string, lines: readonly Told[]): Told[][] {
  const payloads: Told[][] = [];
  let bytes = MOST_BYTES;
  for (const line of lines) {
    const more = Buffer.byteLength(line) + 1;
    if (bytes + more > MOST_BYTES) {
      payloads.push([]);
      bytes = Buffer.byteLength(from);
    }
    payloads.at(-1)?.push(line);
    bytes += more;
  }
  return payloads;
}
