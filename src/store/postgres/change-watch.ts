import type { Driver } from "./driver.ts";
import { statement } from "./session.ts";

/** Caches in memory for a database that other processes may change. */
export type Topic = "keys" | "tokens" | "sessions" | "prices" | "routes";

/** A cache of rows in memory. */
export interface Cache {
  /** The cached rows may be wrong from now on. */
  forget(): void;
  /** Called twice in a row. Rows that were cached at the first call and not read since are not used after the second. */
  age(): void;
}

export interface ChangeWatch {
  /** Registers a cache. */
  onChange(topic: Topic, cache: Cache): void;
  /** Tells other processes, after a commit, to read their cached rows again. Never rejects. */
  tell(topic: Topic): Promise<void>;
  /** Begins to listen; resolves at once. */
  start(): void;
  stop(): void;
}

const CHANNEL = "svc_change";
/**
 * Twice this interval plus the time of a read is less than the second within which a change by another process must become
 * visible.
 */
const LOOK_EVERY_MS = 400;
/**
 * After this many checks, cached rows are read again in any case, because a process may end between its commit and its
 * notification.
 */
const LOOKS_UNTIL_AGED = 25;
/** After this many checks without a pulse, a new connection is opened for listening. */
const LOOKS_UNTIL_ANEW = 25;
const TRIES = 3;

const NAME = statement<{ name: string }>("select 'svc_pulse_' || gen_random_uuid() as name");
const NOTIFY = statement<never, [channel: string, payload: string]>(
  "select pg_notify($1, $2) is null as notified",
);

/**
 * Clears caches when another process reports a committed change, and whenever notifications may have been lost. At each check
 * it sends itself a pulse. As long as it does not hear its pulses, it may miss other notifications too, so cached rows are read
 * again and again.
 */
export function createChangeWatch(
  driver: Pick<Driver, "aside" | "listen" | "listenAnew">,
  lookEveryMs: number = LOOK_EVERY_MS,
): ChangeWatch {
  const caches: (readonly [topic: Topic, cache: Cache])[] = [];
  const pulse = createPulse(driver);
  const listening = watchListening(driver);
  let looks = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isListening = false;

  const each = (act: (cache: Cache) => void, told?: string) => {
    for (const [topic, cache] of caches) if (told === undefined || told === topic) act(cache);
  };

  async function listen(): Promise<void> {
    isListening = true;
    try {
      const forget = (told?: string) => each((cache) => cache.forget(), told);
      await driver.listen(CHANNEL, forget, () => forget());
      await pulse.listen();
    } catch {
      // The next check tries again; until then no pulse is heard.
      isListening = false;
    }
  }

  function look(): void {
    const isHeard = pulse.isHeard();
    if (isListening) listening.look(isHeard);
    else void listen();
    looks = isHeard ? looks + 1 : LOOKS_UNTIL_AGED;
    if (looks >= LOOKS_UNTIL_AGED) {
      looks = 0;
      each((cache) => cache.age());
    }
    pulse.send();
  }

  return {
    onChange: (topic, cache) => void caches.push([topic, cache]),
    tell: (topic) => tell(driver, topic, lookEveryMs / TRIES),
    start(): void {
      if (timer !== undefined) return;
      timer = setInterval(look, lookEveryMs);
      timer.unref();
      void listen();
    },
    stop: () => clearInterval(timer),
  };
}

async function tell({ aside }: Pick<Driver, "aside">, topic: Topic, pauseMs: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return void (await NOTIFY.run(aside, CHANNEL, topic));
    } catch {
      // Other listeners were cut off too, or soon read their cached rows again.
      if (tries === TRIES) return;
      await Bun.sleep(pauseMs);
    }
  }
}

/**
 * Opens a new connection for listening if the present one hears nothing. A connection whose packets get lost does not report
 * it.
 */
function watchListening({ listenAnew }: Pick<Driver, "listenAnew">) {
  let deafLooks = 0;
  return {
    look(isHeard: boolean): void {
      deafLooks = isHeard ? 0 : deafLooks + 1;
      if (deafLooks < LOOKS_UNTIL_ANEW) return;
      deafLooks = 0;
      listenAnew().catch(() => {
        // The next check tries again.
        deafLooks = LOOKS_UNTIL_ANEW;
      });
    },
  };
}

/** Notifications that a process sends only to itself. */
function createPulse({ aside, listen }: Pick<Driver, "aside" | "listen">) {
  let channel: string | undefined;
  let isSending = false;
  let sent = 0;
  let heard = 0;

  return {
    async listen(): Promise<void> {
      const { name } = (await NAME.get(aside)) ?? {};
      if (name === undefined) throw new Error("The database made no name.");
      await listen(
        name,
        (payload) => {
          heard = Number(payload);
        },
        () => {},
      );
      channel = name;
    },
    /** Whether the last pulse was heard. */
    isHeard: () => sent > 0 && heard === sent,
    send(): void {
      if (channel === undefined || isSending) return;
      isSending = true;
      sent++;
      NOTIFY.run(aside, channel, String(sent))
        // It is not heard.
        .catch(() => {})
        .finally(() => {
          isSending = false;
        });
    },
  };
}
