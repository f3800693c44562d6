import type { Act } from "../../domain/access/actor.ts";
import type { AccountId, LaneId, TaskId } from "../../domain/ids.ts";
import {
  type RouteOfLane,
  type RouteStore,
  type RouteTrouble,
  type TroubleKind,
  WHOLE_ACCOUNT,
} from "../../domain/ports/route-store.ts";
import type { Clock, Log } from "../../domain/ports/runtime.ts";

/** The requests to an upstream: to take a task, to find out about one, to do it. */
export type Asked = "submission" | "poll" | "job";

/** A route with the task that goes there or went there, and the account of its caller. */
export interface SentRoute extends RouteOfLane {
  readonly taskId?: TaskId | undefined;
  readonly accountId?: AccountId | undefined;
}

/** A problem that keeps tasks away from a route or an account. */
export interface Known {
  readonly trouble: RouteTrouble;
  /** The request during which the problem was found. */
  readonly asked: Asked;
  /** By the clock that is never set. */
  readonly untilMs: number;
  /** The task that failed last, and its caller. */
  readonly latest?: Pick<SentRoute, "accountId" | "taskId"> | undefined;
  /** The task that is trying it, until this time at most. */
  probe?: { readonly by: TaskId | undefined; readonly untilMs: number } | undefined;
}

/** A problem when it is found. */
export interface Found extends Pick<Known, "asked" | "latest">, Pick<RouteTrouble, "callers"> {
  readonly kind: TroubleKind;
  readonly detail: string;
  /** Infinite: until an operator has acted. */
  readonly waitMs: number;
}

export interface TroublesDeps {
  readonly routes: RouteStore;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly log: Log;
  /** Called when a problem no longer keeps tasks away, after that is stored. */
  readonly onEnd?: ((route: RouteOfLane) => void) | undefined;
}

const NONE: readonly Known[] = [];

/** The known problems of routes and accounts: in memory, in the store for the next process, and once each in the log. */
export class Troubles {
  readonly #known = new Map<string, Known>();
  /**
   * Accounts that have or had a problem. The maps are nested, because every choice looks up each way and joining names takes
   * longer.
   */
  readonly #lanes = new Set<LaneId>();
  /** Routes whose present state is not stored yet, with the number of writes under way. */
  readonly #unstored = new Map<string, number>();
  /** Routes whose present state could not be stored. The next look tries again. */
  readonly #failed = new Map<string, RouteOfLane>();
  /** Routes that changed here since the last look began. */
  readonly #touched = new Set<string>();
  /** Whether the last look passed over what another process may have changed. */
  #hasPassedOver = false;
  readonly #deps: TroublesDeps;

  constructor(deps: TroublesDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the problems that an earlier process knew. @param mostMs the longest time that a problem of a kind lasts, because the
   * clock may have been set since
   */
  async start(mostMs: (kind: TroubleKind) => number): Promise<void> {
    const { routes, clock } = this.#deps;
    for (const trouble of await routes.troubles()) {
      const { until = Number.POSITIVE_INFINITY, kind } = trouble;
      const leftMs = Number.isFinite(until) ? Math.min(mostMs(kind), until - clock.now()) : until;
      this.#note({
        trouble: { ...trouble, times: 1 },
        asked: "submission",
        untilMs: clock.elapsed() + leftMs,
      });
    }
  }

  /** Takes over what another process has blocked or cleared in the store since the last look. */
  async look(): Promise<void> {
    const { routes, clock, log } = this.#deps;
    this.#storeFailed();
    const unstored = new Set(this.#unstored.keys());
    this.#touched.clear();
    const changed = await routes.changedTroubles(clock.now());
    const rows = changed ?? (this.#hasPassedOver ? await routes.troubles() : undefined);
    if (rows === undefined) return;
    this.#hasPassedOver = false;
    // A change here since then is newer than what was read. What is stored after it is read by the next look.
    const isNewer = (key: string) => {
      const is = unstored.has(key) || this.#touched.has(key);
      if (is) this.#hasPassedOver = true;
      return is;
    };
    const stored = new Map(rows.map((row) => [keyOf(row), row.kind]));
    for (const [key, { trouble }] of this.#known) {
      const kind = stored.get(key);
      // Only an operator ends a block. What was found since is known where it was found.
      const isKept = kind !== undefined && (kind === "blocked" || trouble.kind !== "blocked");
      if (isKept || isNewer(key)) continue;
      this.#known.delete(key);
      tellEnd(log, trouble);
      this.#deps.onEnd?.(trouble);
    }
    for (const trouble of rows) {
      const known = this.find(trouble)?.trouble;
      const isSame = known?.kind === "blocked" && known.detail === trouble.detail;
      if (trouble.kind !== "blocked" || isSame || isNewer(keyOf(trouble))) continue;
      this.#note({ trouble, asked: "submission", untilMs: Number.POSITIVE_INFINITY });
      tellBegin(log, trouble);
    }
  }

  isEmpty(): boolean {
    return this.#known.size === 0;
  }

  all(): readonly Known[] {
    return [...this.#known.values()];
  }

  find(route: RouteOfLane): Known | undefined {
    return this.#known.get(keyOf(route));
  }

  /** The known problems of the route and of its account. */
  concerning({ lane, upstreamModel }: RouteOfLane): readonly Known[] {
    if (this.isEmpty() || !this.#lanes.has(lane)) return NONE;
    const both = [this.find({ lane, upstreamModel: WHOLE_ACCOUNT }), this.find({ lane, upstreamModel })];
    return both.filter((one) => one !== undefined);
  }

  /** @param afterMs how much later it opens to whoever asks */
  waitMs({ untilMs, probe }: Known, afterMs = 0): number {
    return Math.max(0, Math.max(untilMs + afterMs, probe?.untilMs ?? 0) - this.#deps.clock.elapsed());
  }

  /**
   * @param act an operator's act, for the trail
   * @returns when it is stored; rejects if it cannot be stored, which is also logged
   */
  set(
    { lane, upstreamModel }: RouteOfLane,
    { kind, asked, detail, waitMs, callers, latest }: Found,
    act?: Act,
  ): Promise<void> {
    const { clock, log, routes } = this.#deps;
    const known = this.find({ lane, upstreamModel });
    const isTheirs = isSame(known?.trouble.callers, callers);
    const isAgain = known?.trouble.kind === kind && (kind !== "open" || isTheirs);
    const before = isAgain ? known.trouble : undefined;
    const trouble: RouteTrouble = {
      ...{ lane, upstreamModel, kind, detail },
      since: before?.since ?? clock.now(),
      until: Number.isFinite(waitMs) ? clock.now() + waitMs : undefined,
      times: (before?.times ?? 0) + 1,
      ...(callers !== undefined && {
        callers,
        servesOthers: isTheirs && known?.trouble.servesOthers === true,
      }),
    };
    this.#note({ trouble, asked, untilMs: clock.elapsed() + waitMs, latest });
    if (before === undefined) tellBegin(log, trouble);
    return this.#keep(trouble, routes.set(trouble, act), { act });
  }

  /** Tasks of others than its callers are done there. They are no longer kept away. @returns as `set` */
  serves(known: Known): Promise<void> {
    const { log, routes } = this.#deps;
    const trouble = { ...known.trouble, servesOthers: true };
    this.#note({ ...known, trouble, probe: undefined });
    // A problem of one kept nobody else away.
    if ((trouble.callers?.length ?? 0) > 1) tellEnd(log, trouble);
    return this.#keep(trouble, routes.set(trouble), { isOpened: true });
  }

  /** @returns as `set` */
  clear({ lane, upstreamModel }: RouteOfLane, act?: Act): Promise<void> {
    const one = this.find({ lane, upstreamModel });
    if (one === undefined) return Promise.resolve();
    this.#known.delete(keyOf(one.trouble));
    tellEnd(this.#deps.log, one.trouble);
    return this.#keep(one.trouble, this.#deps.routes.clear({ lane, upstreamModel }, act), {
      act,
      isOpened: true,
    });
  }

  #note(known: Known): void {
    this.#known.set(keyOf(known.trouble), known);
    this.#lanes.add(known.trouble.lane);
  }

  #keep(
    { lane, upstreamModel }: RouteOfLane,
    writing: Promise<void>,
    { act, isOpened = false }: { readonly act?: Act | undefined; readonly isOpened?: boolean },
  ): Promise<void> {
    const route = { lane, upstreamModel };
    const stored = this.#store(route, writing);
    // Most callers that change something do not wait for it.
    stored
      .catch((error: unknown) => {
        this.#deps.log.error({ err: error as Error }, "what became of a route could not be stored");
        // An operator is told that an act has failed. What is stored counts from the next look.
        if (act === undefined) this.#failed.set(keyOf(route), route);
        else this.#hasPassedOver = true;
      })
      .finally(() => isOpened && this.#deps.onEnd?.(route));
    return stored;
  }

  /** @returns `writing`, until whose end nothing that was stored before replaces what is known */
  async #store(route: RouteOfLane, writing: Promise<void>): Promise<void> {
    const key = keyOf(route);
    this.#touched.add(key);
    this.#unstored.set(key, (this.#unstored.get(key) ?? 0) + 1);
    try {
      await writing;
    } finally {
      const left = (this.#unstored.get(key) ?? 1) - 1;
      if (left > 0) this.#unstored.set(key, left);
      else this.#unstored.delete(key);
    }
  }

  /** Stores what could not be stored before. That it could not was told then. */
  #storeFailed(): void {
    const failed = [...this.#failed];
    this.#failed.clear();
    for (const [key, route] of failed) {
      const { trouble } = this.#known.get(key) ?? {};
      const { routes } = this.#deps;
      // Whoever blocked it since has stored that.
      if (trouble?.kind === "blocked") continue;
      const writing = trouble === undefined ? routes.clear(route) : routes.set(trouble);
      this.#store(route, writing).catch(() => void this.#failed.set(key, route));
    }
  }
}

/** Tells routes apart. */
export function keyOf({ lane, upstreamModel }: RouteOfLane): string {
  return `${lane} ${upstreamModel}`;
}

/** `fal/second`, or `fal/second flux/dev` if it concerns one model. */
function nameOf({ lane, upstreamModel }: RouteOfLane): { readonly lane: LaneId; readonly name: string } {
  return { lane, name: upstreamModel === WHOLE_ACCOUNT ? lane : `${lane} ${upstreamModel}` };
}

const BEGINS: Readonly<Record<TroubleKind, string>> = {
  open: "fails; it gets no tasks until it is tried again",
  refused: "refuses us; it gets no tasks until its key, account or model is put right (svc providers test)",
  spent: "has no money left for us; it gets no tasks until it is tried again",
  blocked: "is blocked; its tasks go elsewhere or wait",
};

function isSame(one: RouteTrouble["callers"], other: RouteTrouble["callers"]): boolean {
  return one?.join() === other?.join();
}

function tellBegin(log: Log, trouble: RouteTrouble): void {
  const { lane, name } = nameOf(trouble);
  const { kind, detail, upstreamModel, until, callers } = trouble;
  const fields = {
    provider: lane,
    ...(upstreamModel !== "" && { upstream_model: upstreamModel }),
    ...(callers !== undefined && { accounts: callers }),
    detail,
    until,
  };
  const say = kind === "refused" || kind === "spent" ? log.error : log.warn;
  say.call(log, fields, `${name} ${BEGINS[kind]}`);
}

function tellEnd(log: Log, trouble: RouteTrouble): void {
  const { lane, name } = nameOf(trouble);
  const { upstreamModel, callers, servesOthers = false } = trouble;
  const fields = {
    provider: lane,
    ...(upstreamModel !== "" && { upstream_model: upstreamModel }),
    ...(servesOthers && { without_accounts: callers }),
  };
  log.info(fields, `${name} gets tasks again`);
}
