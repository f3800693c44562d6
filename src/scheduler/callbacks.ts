import type { Callback } from "../domain/callback/callback.ts";
import type { SendLimits } from "../domain/ports/callback-store.ts";
import { type CallbackDeps, createCallbackPosting } from "./callback-posting.ts";
import { createHostWidths } from "./host-widths.ts";
import { createLoop } from "./loop.ts";

export interface CallbackOptions {
  /** Delays before attempts 2, 3 and so on; they also set the number of attempts. Read after each attempt. */
  readonly delaysMs: () => readonly number[];
  /** `perHost` is the limit for a host that answers well. */
  readonly limits: Omit<SendLimits, "ofPlaces">;
  /** Whether other processes send callbacks of the same database. */
  readonly isShared?: boolean | undefined;
}

export interface CallbackSender {
  wake(): void;
  /** Takes over the sends that an earlier process had begun, and starts sending. */
  start(): Promise<void>;
  /** Claims once and delivers everything, without timers. @returns callbacks sent */
  tick(): Promise<number>;
  /** Begins no more sends. Sends under way have `drainMs` to end; the others are recorded as interrupted. */
  stop(drainMs?: number): Promise<void>;
}

/** Longer than any send takes, so that no send counts as lost and is repeated. */
const LEASE_MS = 30_000;
/** How often to look for redeliveries that a command on the data folder requested, because such a command wakes no server. */
const LOOK_EVERY_MS = 1_000;

/** The limits on sends under way, read at each use. */
function limitsNow({ limits }: CallbackOptions, widths: ReturnType<typeof createHostWidths>): SendLimits {
  return {
    ...{ perHost: widths.first, ofPlaces: widths.wider },
    get total() {
      return limits.total;
    },
    get perAccount() {
      return limits.perAccount;
    },
  };
}

/** The sends under way. @param wake called when there is room for another send */
function followSends(wake: () => void) {
  /** Sends without an answer yet; the limits count these. */
  const underWay = new Set<Callback>();
  /** Sends whose outcome is not recorded yet. */
  const open = new Set<Promise<void>>();

  function leave(callback: Callback): void {
    if (underWay.delete(callback)) wake();
  }

  return {
    underWay: underWay as ReadonlySet<Callback>,
    leave,
    follow(callback: Callback, run: () => Promise<void>): void {
      underWay.add(callback);
      const done = run().finally(() => {
        open.delete(done);
        leave(callback);
      });
      open.add(done);
    },
    recorded: () => Promise.all(open),
  };
}

/** Delivers the callbacks of ended tasks, with at most five attempts each unless their form has more, counted before they leave. */
export function createCallbackSender(deps: CallbackDeps, options: CallbackOptions): CallbackSender {
  const { callbacks, clock } = deps;
  const widths = createHostWidths(options.limits.perHost, clock);
  const limits = limitsNow(options, widths);
  const { underWay, leave, follow, recorded } = followSends(() => loop.wake());
  const posting = createCallbackPosting(deps, options.delaysMs, (callback, delivery, tookMs) => {
    widths.ended(callback, delivery, tookMs);
    // The next callbacks are claimed in the commit that records this outcome.
    leave(callback);
  });
  const stopping = new AbortController();

  async function claim(): Promise<number> {
    if (underWay.size >= limits.total) return 0;
    const query = { now: clock.now(), leaseMs: LEASE_MS, limits, underWay };
    const sends = await callbacks.claim(query);
    for (const send of sends) follow(send.callback, () => posting.run(send, stopping.signal));
    return sends.length;
  }

  const loop = createLoop(deps, "claiming callbacks", async () => {
    if (await callbacks.hasDue(clock.now())) await claim();
    if (underWay.size >= limits.total) return undefined;
    const lookAt = clock.now() + LOOK_EVERY_MS;
    return Math.min((await callbacks.nextDueAt()) ?? lookAt, lookAt);
  });

  return {
    wake: loop.wake,
    async start() {
      // Each of these sends may have arrived, so the next attempt comes after its delay; otherwise a crash could use up all
      // five at once. All are recorded in one turn, so that they share a commit: hundreds of flushes would delay the start.
      // Sends that other processes may be making are left alone.
      const cutOff = await callbacks.unfinished(options.isShared ? clock.now() - LEASE_MS : undefined);
      await Promise.all(cutOff.map((send) => posting.record(send, { kind: "interrupted" })));
      loop.start();
    },
    async tick() {
      const count = await claim();
      await recorded();
      return count;
    },
    async stop(drainMs = 0) {
      await loop.stop();
      const abort = () => stopping.abort();
      if (drainMs <= 0) abort();
      const cancelTimer = clock.after(drainMs, abort);
      await recorded();
      cancelTimer();
    },
  };
}
