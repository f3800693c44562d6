import type { Config } from "../config/config.ts";
import { monotonicMs } from "../runtime/clock.ts";
import { systemRandom } from "../runtime/random.ts";
import type { Feeds } from "../runtime/signals.ts";
import { createCallbackSender } from "../scheduler/callbacks.ts";
import { createCleaner } from "../scheduler/cleaner.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import type { Rooms } from "./rooms.ts";

/** The work that runs without a request. */
export function createBackground(config: Config, rooms: Rooms, feeds: Feeds) {
  const { clock, log, store, providers } = rooms;
  const { tasks } = store;
  const { publicUrl } = config;
  const random = systemRandom;
  const sender = createCallbackSender({ ...rooms, ...store, random, publicUrl }, config.callbacks);
  const scheduler = createScheduler(
    { ...rooms, ...feeds, tasks, random, provider: (id) => providers.get(id), callbackDue: sender.wake },
    {
      ...config.scheduler,
      lanes: [...providers.values()].map(({ id, concurrency }) => ({ lane: id, capacity: concurrency })),
    },
  );
  const cleaner = createCleaner({ tasks, clock, log, tidy: () => void store.checkpoint() });
  return {
    scheduler,
    /** Tells the sender that callbacks are due. */
    callbacksDue: sender.wake,
    async start() {
      await scheduler.start();
      await sender.start();
      cleaner.start();
    },
    /** Lets running steps end, calls `onDrained`, then lets sends end, within `drainMs` in all. */
    async drain(drainMs: number, onDrained: () => void) {
      cleaner.stop();
      const until = monotonicMs() + drainMs;
      await scheduler.drain(drainMs);
      onDrained();
      await sender.stop(Math.max(0, until - monotonicMs()));
    },
  };
}
