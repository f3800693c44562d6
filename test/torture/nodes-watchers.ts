import { type EventStream, openEvents } from "../e2e/support/event-stream.ts";
import type { Dice } from "./dice.ts";
import type { Fleet } from "./nodes-fleet.ts";

const WATCHERS = 3;
/** How long one stays at a node before it goes on at another. */
const STAYS_MS: [number, number] = [300, 5_000];
const PAUSE_MS = 100;
const ORDER = ["pending", "processing", "completed"];

/** What one that follows the account's events was told. */
export interface Watched {
  /** Of each task, the last state that was told. */
  readonly states: ReadonlyMap<string, string>;
  readonly events: number;
  readonly connections: number;
  readonly wrong: readonly string[];
}

/** Clients that follow all tasks of the account, at one node after another, each time from where they left off. */
export function createWatchers({ fleet, dice, key }: { fleet: Fleet; dice: Dice; key: string }) {
  const over = new AbortController();
  const watching = Array.from({ length: WATCHERS }, () => createWatcher());

  function createWatcher() {
    const states = new Map<string, string>();
    const wrong: string[] = [];
    const counts = { events: 0, connections: 0 };
    let last = "0";

    function take({ name, id, data }: Awaited<ReturnType<EventStream["next"]>>): void {
      const task = String(JSON.parse(data).task_id);
      const before = states.get(task);
      counts.events += 1;
      if (id === undefined || Number(id) <= Number(last))
        wrong.push(`event ${id} (${task} ${name}) came after ${last}`);
      if (before !== undefined && ORDER.indexOf(name) < ORDER.indexOf(before))
        wrong.push(`${task} was told ${name} after ${before}`);
      if (before === "completed") wrong.push(`${task} was told ${name} after its end`);
      states.set(task, name);
      last = id ?? last;
    }

    async function follow(): Promise<void> {
      const origins = fleet.origins();
      const url = origins[dice.between(0, origins.length - 1)] ?? "";
      const stays = dice.between(...STAYS_MS);
      const leaving = AbortSignal.timeout(stays);
      const stream = await openEvents({ url, key }, "/v1/events", last, leaving);
      counts.connections += 1;
      try {
        for (;;) take(await stream.next());
      } finally {
        stream.cut();
      }
    }

    async function goOn(): Promise<void> {
      while (!over.signal.aborted) {
        // Refused, cut off, ended by the node or by its own leaving: it goes on elsewhere.
        await follow().catch(() => {});
        await Bun.sleep(PAUSE_MS);
      }
    }
    return { going: goOn(), seen: { states, wrong, counts } };
  }

  return {
    /** Ends once each has been told the end of all these tasks, or does not get there in time. */
    async end(tasks: Iterable<string>, withinMs: number): Promise<Watched[]> {
      const wanted = [...tasks];
      const until = performance.now() + withinMs;
      const isTold = () =>
        watching.every(({ seen }) => wanted.every((id) => seen.states.get(id) === "completed"));
      while (!isTold() && performance.now() < until) await Bun.sleep(100);
      over.abort();
      await Promise.all(watching.map(({ going }) => going));
      return watching.map(({ seen: { states, wrong, counts } }) => ({ states, wrong, ...counts }));
    },
  };
}
