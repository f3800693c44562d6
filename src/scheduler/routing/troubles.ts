import type { Act } from "../../domain/access/actor.ts";
import type { LaneId } from "../../domain/ids.ts";
import {
  type RouteOfLane,
  type RouteStore,
  type RouteTrouble,
  type TroubleKind,
  WHOLE_ACCOUNT,
} from "../../domain/ports/route-store.ts";
import type { Clock, Log } from "../../domain/ports/runtime.ts";

/** What an upstream is asked for: to take a task, what became of one, to do it. */
export type Asked = "submission" | "poll" | "job";

/** Something that keeps tasks from a route or an account. */
export interface Known {
  readonly trouble: RouteTrouble;
  /** What it was asked for when it was found to be so. */
  readonly asked: Asked;
  /** By the clock that is never set. */
  readonly untilMs: number;
  /** A task tries it, until then at most. */
  probedUntilMs?: number | undefined;
}

export interface TroublesDeps {
  readonly routes: RouteStore;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly log: Log;
}

const NONE: readonly Known[] = [];

/** What is known against routes and accounts: in memory, in the store for the next process, and once each in the log. */
export class Troubles {
  readonly #known = new Map<string, Known>();
  /** Accounts that something is or was known against. Every choice asks for each way, and joining names takes longer. */
  readonly #lanes = new Set<LaneId>();
  /** Of these routes the store does not have what is known yet; how many writes are under way. */
  readonly #unstored = new Map<string, number>();
  /** Routes that changed here since the last look began. */
  readonly #touched = new Set<string>();
  readonly #deps: TroublesDeps;

  constructor(deps: TroublesDeps) {
    this.#deps = deps;
  }

  /** Reads what an earlier process knew. @param mostMs the longest that a trouble of a kind lasts: the clock may have been set since */
  async start(mostMs: (kind: TroubleKind) => number): Promise<void> {
    const { routes, clock } = this.#deps;
    for (const trouble of await routes.troubles()) {
      const { until = Number.POSITIVE_INFINITY, kind } = trouble;
      const leftMs = Number.isFinite(until) ? Math.min(mostMs(kind), until - clock.now()) : until;
      this.#note({ trouble, asked: "submission", untilMs: clock.elapsed() + leftMs });
    }
  }

  /** Takes up what another process has blocked or cleared in the store since the last look. */
  async look(): Promise<void> {
    const { routes, clock, log } = this.#deps;
    const unstored = new Set(this.#unstored.keys());
    this.#touched.clear();
    const rows = await routes.changedTroubles(clock.now());
    if (rows === undefined) return;
    // What changed here meanwhile is newer than what was read.
    const isNewer = (key: string) => unstored.has(key) || this.#touched.has(key);
    const stored = new Set(rows.map(keyOf));
    for (const [key, { trouble }] of this.#known) {
      if (stored.has(key) || isNewer(key)) continue;
      this.#known.delete(key);
      tellEnd(log, trouble);
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

  /** What is known of the route, and of its account. */
  concerning({ lane, upstreamModel }: RouteOfLane): readonly Known[] {
    if (this.isEmpty() || !this.#lanes.has(lane)) return NONE;
    const both = [this.find({ lane, upstreamModel: WHOLE_ACCOUNT }), this.find({ lane, upstreamModel })];
    return both.filter((one) => one !== undefined);
  }

  waitMs({ untilMs, probedUntilMs = 0 }: Known): number {
    return Math.max(0, Math.max(untilMs, probedUntilMs) - this.#deps.clock.elapsed());
  }

  /** @param waitMs infinite: until somebody has seen to it. @param act of an operator, for the trail @returns when it is stored; rejects where it cannot be, which the log tells */
  set(
    { lane, upstreamModel }: RouteOfLane,
    { kind, asked, detail, waitMs }: { kind: TroubleKind; asked: Asked; detail: string; waitMs: number },
    act?: Act,
  ): Promise<void> {
    const { clock, log, routes } = this.#deps;
    const before = this.find({ lane, upstreamModel })?.trouble;
    const isAgain = before?.kind === kind;
    const trouble: RouteTrouble = {
      ...{ lane, upstreamModel, kind, detail },
      since: isAgain ? before.since : clock.now(),
      until: Number.isFinite(waitMs) ? clock.now() + waitMs : undefined,
      times: isAgain ? before.times + 1 : 1,
    };
    this.#note({ trouble, asked, untilMs: clock.elapsed() + waitMs });
    if (!isAgain) tellBegin(log, trouble);
    return this.#keep(keyOf(trouble), routes.set(trouble, act));
  }

  /** @returns as `set` */
  clear({ lane, upstreamModel }: RouteOfLane, act?: Act): Promise<void> {
    const one = this.find({ lane, upstreamModel });
    if (one === undefined) return Promise.resolve();
    const key = keyOf(one.trouble);
    this.#known.delete(key);
    tellEnd(this.#deps.log, one.trouble);
    return this.#keep(key, this.#deps.routes.clear({ lane, upstreamModel }, act));
  }

  #note(known: Known): void {
    this.#known.set(keyOf(known.trouble), known);
    this.#lanes.add(known.trouble.lane);
  }

  #keep(key: string, writing: Promise<void>): Promise<void> {
    this.#touched.add(key);
    this.#unstored.set(key, (this.#unstored.get(key) ?? 0) + 1);
    const stored = writing.then(() => {
      const left = (this.#unstored.get(key) ?? 1) - 1;
      if (left > 0) this.#unstored.set(key, left);
      else this.#unstored.delete(key);
    });
    // Most who change something do not wait for it.
    stored.catch((error: unknown) =>
      this.#deps.log.error({ err: error as Error }, "what became of a route could not be stored"),
    );
    return stored;
  }
}

/** Tells routes apart. */
export function keyOf({ lane, upstreamModel }: RouteOfLane): string {
  return `${lane} ${upstreamModel}`;
}

/** `fal/second`, or `fal/second flux/dev` where it concerns one model. */
function nameOf({ lane, upstreamModel }: RouteOfLane): { readonly lane: LaneId; readonly name: string } {
  return { lane, name: upstreamModel === WHOLE_ACCOUNT ? lane : `${lane} ${upstreamModel}` };
}

const BEGINS: Readonly<Record<TroubleKind, string>> = {
  open: "fails; it gets no tasks until it is tried again",
  refused: "refuses us; it gets no tasks until its key, account or model is put right (svc providers test)",
  spent: "has no money left for us; it gets no tasks until it is tried again",
  blocked: "is blocked; its tasks go elsewhere or wait",
};

function tellBegin(log: Log, trouble: RouteTrouble): void {
  const { lane, name } = nameOf(trouble);
  const { kind, detail, upstreamModel, until } = trouble;
  const fields = {
    provider: lane,
    ...(upstreamModel !== "" && { upstream_model: upstreamModel }),
    detail,
    until,
  };
  const say = kind === "refused" || kind === "spent" ? log.error : log.warn;
  say.call(log, fields, `${name} ${BEGINS[kind]}`);
}

function tellEnd(log: Log, trouble: RouteTrouble): void {
  const { lane, name } = nameOf(trouble);
  const { upstreamModel } = trouble;
  log.info(
    { provider: lane, ...(upstreamModel !== "" && { upstream_model: upstreamModel }) },
    `${name} gets tasks again`,
  );
}
