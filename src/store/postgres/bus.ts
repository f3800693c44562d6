import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

const CHANNEL = "svc_node";
/** PostgreSQL takes payloads below 8,000 bytes (https://www.postgresql.org/docs/15/sql-notify.html, checked 2026-11-27). */
const MOST_BYTES = 7_500;

const TELL = statement<never, [payload: string]>(`select pg_notify('${CHANNEL}', $1) is null as told`);

export type Bus = ReturnType<typeof createBus>;

/** What nodes tell each other: texts without a line feed. */
type Told = string;

/**
 * Tells other nodes what has happened. A hint that comes late or never does no harm: whoever waits looks by itself now and then. What is
 * told in one turn of the event loop goes together, after the transactions that it is about and not in them, because a notification
 * in a transaction makes all commits of the server wait for each other.
 */
export function createBus(driver: Driver, from: string) {
  let waiting = new Set<Told>();
  let isSending = false;

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      const lines = [...waiting];
      waiting = new Set();
      for (const payload of payloadsOf(from, lines)) await TELL.run(driver.aside, payload);
    }
  }

  function flush(): void {
    // Hints to a server that is away are not missed: it tells whoever listens again that some may be lost.
    void send()
      .catch(() => waiting.clear())
      .finally(() => {
        isSending = false;
        if (waiting.size > 0) arm();
      });
  }

  function arm(): void {
    if (isSending) return;
    isSending = true;
    setImmediate(flush);
  }

  return {
    tell(told: Told): void {
      waiting.add(told);
      arm();
    },
    /** Calls `hear` for what other nodes tell, and `missed` whenever some of it may have been lost. */
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
