import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

const CHANNEL = "svc_node";
/** PostgreSQL takes payloads below 8,000 bytes (https://www.postgresql.org/docs/15/sql-notify.html, checked 2026-11-27). */
const MOST_BYTES = 7_500;

const TELL = statement<never, [payload: string]>(`select pg_notify('${CHANNEL}', $1) is null as told`);

export type Bus = ReturnType<typeof createBus>;

/** Messages between nodes: texts without a line feed. */
type Told = string;

/**
 * Sends hints about events to other nodes. A late or lost hint does no harm, because a waiting node also looks by itself now
 * and then. Hints of one turn of the event loop are sent together. They are sent after their transactions and not within them,
 * because a notification in a transaction makes all commits of the server wait for each other.
 */
export function createBus(driver: Driver, from: string) {
  let waiting = new Set<Told>();
  let isSending = false;
  let sending = Promise.resolve();

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const lines = [...waiting];
      waiting = new Set();
      for (const payload of payloadsOf(from, lines)) await TELL.run(driver.aside, payload);
    }
  }

  function arm(): void {
    if (isSending) return;
    isSending = true;
    const turn = new Promise<void>((resolve) => void setImmediate(resolve));
    // Hints that do not reach the server are not missed: listeners learn that some may be lost when they reach it again.
    sending = turn
      .then(send)
      .catch(() => waiting.clear())
      .finally(() => {
        isSending = false;
        if (waiting.size > 0) arm();
      });
  }

  return {
    tell(told: Told): void {
      waiting.add(told);
      arm();
    },
    /** Resolves when all hints are sent. */
    async sent(): Promise<void> {
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

function payloadsOf(from: string, lines: readonly Told[]): string[] {
  const payloads: string[] = [];
  let payload = from;
  for (const line of lines) {
    if (Buffer.byteLength(payload) + Buffer.byteLength(line) + 1 > MOST_BYTES) {
      payloads.push(payload);
      payload = from;
    }
    payload += `\n${line}`;
  }
  return [...payloads, payload];
}
