import type { LaneId, TaskId } from "../../../domain/ids.ts";
import { isUnderWay } from "../../sqlite/task-store/next-ready.ts";
import type { Session } from "../session.ts";
import type { LaneTurns } from "./lane-turns.ts";
import { MOVABLE, OWN, type ReadyOfAccount, type ReadyTasks, type ReadyWindow } from "./ready-tasks.ts";

/**
 * Chooses the ready tasks that lanes start next, for one claim, in the order that `prepareNextReady` of SQLite has. What it chooses is
 * leased when all of it is chosen, so it reads many tasks at once and leaves out those that it chose already.
 */
export class NextReady {
  readonly #taken = new Set<TaskId>();
  readonly #windows = new Map<string, Promise<ReadyWindow>>();
  readonly #seeks = new Map<string, Promise<string | undefined>>();

  /** @param most tasks that can be taken */
  constructor(
    private readonly session: Session,
    private readonly turns: LaneTurns,
    private readonly most: number,
  ) {}

  /** Reads what lanes begin with, all at once. */
  async warm(lanes: readonly LaneId[], now: number): Promise<void> {
    await Promise.all(
      lanes.map((lane) => {
        const row = this.turns.rowOf(lane);
        return row && isUnderWay(row, now)
          ? this.#window(OWN, lane, row.setup)
          : this.#seek(OWN, lane, row?.setup);
      }),
    );
  }

  /** Takes the next task of `source` for `lane`, which goes on with its own row there if it can. */
  async take(source: LaneId, lane: LaneId, now: number): Promise<TaskId | undefined> {
    const ready = source === lane ? OWN : MOVABLE;
    const row = this.turns.rowOf(lane);
    const inRow = row && isUnderWay(row, now) ? await this.#takeOf(ready, source, row.setup) : undefined;
    if (inRow !== undefined) return inRow;
    const after = row && (await this.#setupAfter(ready, source, row.setup));
    const setup = after ?? (await this.#setupAfter(ready, source, undefined));
    if (setup === undefined) return undefined;
    this.turns.begin(lane, { setup, since: now });
    return this.#takeOf(ready, source, setup);
  }

  async #takeOf(ready: ReadyTasks, source: LaneId, setup: string): Promise<TaskId | undefined> {
    const next = await this.#nextOf(ready, source, setup);
    const id = next?.ids.shift();
    if (next === undefined || id === undefined) return undefined;
    this.turns.serve(source, setup, next.number);
    this.#taken.add(id);
    return id;
  }

  /** The account whose turn it is. */
  async #nextOf(ready: ReadyTasks, source: LaneId, setup: string): Promise<ReadyOfAccount | undefined> {
    const { served, accounts } = await this.#window(ready, source, setup);
    const last = this.turns.lastServed(source, setup) ?? served;
    const later = accounts.filter(({ number }) => number > last);
    for (const account of [...later, ...accounts.filter(({ number }) => number <= last)])
      if (await this.#hasLeft(ready, { source, setup, account })) return account;
    return undefined;
  }

  async #hasLeft(
    ready: ReadyTasks,
    { source, setup, account }: { source: LaneId; setup: string; account: ReadyOfAccount },
  ): Promise<boolean> {
    for (;;) {
      while (account.ids[0] !== undefined && this.#taken.has(account.ids[0])) account.ids.shift();
      if (account.ids.length > 0) return true;
      if (!account.hasMore) return false;
      await ready.more(this.session, { lane: source, setup, account, most: this.most });
    }
  }

  /** The next setup that has a task left; the first one without `after`. */
  async #setupAfter(
    ready: ReadyTasks,
    source: LaneId,
    after: string | undefined,
  ): Promise<string | undefined> {
    let setup = await this.#seek(ready, source, after);
    while (setup !== undefined && (await this.#nextOf(ready, source, setup)) === undefined)
      setup = await this.#seek(ready, source, setup);
    return setup;
  }

  #seek(ready: ReadyTasks, source: LaneId, after: string | undefined): Promise<string | undefined> {
    return this.#seeks.getOrInsertComputed(placeOf(ready, source, after ?? "\n"), () =>
      after === undefined
        ? ready.firstSetup(this.session, source)
        : ready.setupAfter(this.session, source, after),
    );
  }

  #window(ready: ReadyTasks, source: LaneId, setup: string): Promise<ReadyWindow> {
    return this.#windows.getOrInsertComputed(placeOf(ready, source, setup), () =>
      ready.window(this.session, source, setup, this.most),
    );
  }
}

function placeOf(ready: ReadyTasks, source: LaneId, setup: string): string {
  return `${ready === OWN ? "own" : "movable"} ${source} ${setup}`;
}
