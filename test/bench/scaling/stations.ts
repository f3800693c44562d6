import type { World } from "./engine.ts";

/** What became of those who came to a place. */
export interface Passed {
  readonly arrived: number;
  readonly left: number;
  /** Who is there now, waiting or served. */
  readonly inside: number;
  /** How many were there, and how many of the places were taken, on average over the time. */
  readonly meanInside: number;
  readonly utilisation: number;
  /** From arrival to leaving, on average. */
  readonly meanStayUs: number;
}

/** So many places, given to who asks first: servers, connections, or the row of an account with its one lock. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #first = 0;
  #arrived = 0;
  #left = 0;
  #insideTime = 0;
  #takenTime = 0;
  #stayed = 0;
  #lookedAt = 0;
  #since = 0;

  constructor(
    readonly world: World,
    readonly count: number,
  ) {
    this.#free = count;
  }

  /** Calls `taken` once there is a place, with how to give it back. */
  take(taken: (leave: () => void) => void): void {
    const arrivedAt = this.world.now;
    this.#look();
    this.#arrived += 1;
    const begin = () => {
      this.#look();
      this.#free -= 1;
      taken(() => {
        this.#look();
        this.#free += 1;
        this.#left += 1;
        this.#stayed += this.world.now - arrivedAt;
        this.#next();
      });
    };
    if (this.#free > 0) begin();
    else this.#waiting.push(begin);
  }

  /** Takes a place for so long. */
  serve(us: number, served: () => void): void {
    this.take((leave) =>
      this.world.after(us, () => {
        leave();
        served();
      }),
    );
  }

  get busy(): number {
    return this.count - this.#free + this.#waiting.length - this.#first;
  }

  /** Counts anew from now on, so that how it began plays no part. */
  reset(): void {
    this.#look();
    [this.#insideTime, this.#takenTime, this.#stayed, this.#since] = [0, 0, 0, this.world.now];
    [this.#arrived, this.#left] = [this.busy, 0];
  }

  passed(): Passed {
    this.#look();
    const time = Math.max(1, this.world.now - this.#since);
    return {
      ...{ arrived: this.#arrived, left: this.#left, inside: this.busy },
      meanInside: this.#insideTime / time,
      utilisation: this.#takenTime / time / this.count,
      meanStayUs: this.#stayed / Math.max(1, this.#left),
    };
  }

  #next(): void {
    const begin = this.#waiting[this.#first];
    if (begin === undefined) return;
    this.#first += 1;
    // The list is cut now and then: to shift it each time would copy it.
    if (this.#first > 1_000) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
    begin();
  }

  #look(): void {
    const passed = this.world.now - this.#lookedAt;
    this.#insideTime += passed * this.busy;
    this.#takenTime += passed * (this.count - this.#free);
    this.#lookedAt = this.world.now;
  }
}

/** The log ahead: one flush at a time, for all who came before it began. */
export class Flusher {
  #waiting: (() => void)[] = [];
  #isFlushing = false;
  #busyUs = 0;
  #since = 0;

  constructor(
    private readonly world: World,
    private readonly flushUs: number,
  ) {}

  join(flushed: () => void): void {
    this.#waiting.push(flushed);
    if (!this.#isFlushing) this.#flush();
  }

  reset(): void {
    [this.#busyUs, this.#since] = [0, this.world.now];
  }

  utilisation(): number {
    return this.#busyUs / Math.max(1, this.world.now - this.#since);
  }

  #flush(): void {
    const those = this.#waiting;
    this.#waiting = [];
    this.#isFlushing = those.length > 0;
    if (!this.#isFlushing) return;
    this.#busyUs += this.flushUs;
    this.world.after(this.flushUs, () => {
      for (const flushed of those) flushed();
      this.#flush();
    });
  }
}
