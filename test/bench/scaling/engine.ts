import { createDice } from "../../torture/dice.ts";

interface Event {
  readonly at: number;
  /** Among events of one moment, the order in which they were planned. */
  readonly order: number;
  readonly run: () => void;
}

/** A world of discrete events. Times are microseconds. The same seed and the same plans give the same run. */
export class World {
  #now = 0;
  #planned = 0;
  /** A heap: no event is before its parent. */
  readonly #events: Event[] = [];
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = createDice(seed, "scaling").next;
  }

  get now(): number {
    return this.#now;
  }

  /** Uniform in [0, 1). */
  random(): number {
    return this.#next();
  }

  /** A time of this mean, distributed exponentially. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.#next());
  }

  after(us: number, run: () => void): void {
    const event = { at: this.#now + Math.max(0, us), order: this.#planned++, run };
    const events = this.#events;
    let place = events.push(event) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = events[parent] as Event;
      if (!isBefore(event, above)) break;
      events[place] = above;
      place = parent;
    }
    events[place] = event;
  }

  /** Lets time pass until a moment, or until nothing is planned. */
  run(until: number): void {
    for (let event = this.#events[0]; event !== undefined && event.at <= until; event = this.#events[0]) {
      this.#removeFirst();
      this.#now = event.at;
      event.run();
    }
    this.#now = Math.max(this.#now, until);
  }

  #removeFirst(): void {
    const events = this.#events;
    const last = events.pop();
    if (last === undefined || events.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [events[child], events[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && isBefore(right, left)) child += 1;
      const below = events[child] as Event;
      if (!isBefore(below, last)) break;
      events[place] = below;
      place = child;
    }
    events[place] = last;
  }
}

const isBefore = (one: Event, other: Event) =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
