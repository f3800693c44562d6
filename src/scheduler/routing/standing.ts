import type { Act } from "../../domain/access/actor.ts";
import type { LaneId, TaskId } from "../../domain/ids.ts";
import { CLOSED, type Standing } from "../../domain/model/standing.ts";
import {
  hasMet,
  isWithin,
  keepsAway,
  type RouteOfLane,
  type RouteTrouble,
  WHOLE_ACCOUNT,
} from "../../domain/ports/route-store.ts";
import type { Lease } from "../../domain/task/task.ts";
import {
  type Asked,
  type Found,
  type Known,
  keyOf,
  type SentRoute,
  Troubles,
  type TroublesDeps,
} from "./troubles.ts";
import { forWhom, mayTry, type Sender, suspicionMs, union, whoseNow } from "./whose.ts";

export type { Sender, SentRoute };

/** Learns whether routes work, and keeps tasks away from those that do not. */
export interface RouteStanding {
  /** Whether no route has a known problem. */
  isClear(): boolean;
  /** @param sender absent: whoever it is that tasks are kept from there */
  of(route: RouteOfLane, sender?: Sender): Standing;
  /** How long until a task may be sent. 0: now; infinite: after an operator has acted. */
  waitMs(route: RouteOfLane, sender?: Sender): number;
  /** Takes the right to send a task. A route that is being tried again has it for one task. @returns like `waitMs` */
  enter(route: SentRoute): number;
  /** The task that entered was not sent, or its end says nothing about the route. */
  leave(route: SentRoute): void;
  /**
   * The upstream did what it was asked to do. Its answers to polls do not show whether it takes tasks, because an account may
   * have no money left while its jobs continue. Taking a task does not show that it can do it.
   */
  worked(route: SentRoute, asked: Asked): void;
  /** A fault of the upstream, or of the connection to it, that seems not to be the task's fault. A task counts once in a row. */
  failed(route: SentRoute, asked: Exclude<Asked, "poll">, detail: string): void;
  /** The upstream refuses us, which only an operator can fix. */
  refused(route: SentRoute, asked: Asked, refusal: Refused): void;
  /**
   * An operator's decision, which counts at once. @param act for the trail @returns when it is stored; rejects if it cannot be
   * stored
   */
  block(route: RouteOfLane, detail: string, act?: Act): Promise<void>;
  /**
   * Forgets the known problems of the route; for `WHOLE_ACCOUNT`, those of its account and all its routes. @returns like
   * `block`
   */
  allow(route: RouteOfLane, act?: Act): Promise<void>;
}

/** The route of a task's latest attempt; undefined if none was begun. */
export function sentOf({
  task: { accountId },
  attempt,
}: Pick<Lease, "task" | "attempt">): SentRoute | undefined {
  if (attempt === undefined) return undefined;
  const { lane, upstreamModel, taskId } = attempt;
  return { lane, upstreamModel, taskId, accountId };
}

export interface Refused {
  /** What the upstream said; free of secrets. */
  readonly detail: string;
  /** `route`: it refuses only the model. */
  readonly kind: "key" | "route" | "spent";
  /** When it will answer again, according to the upstream. */
  readonly retryAfterMs?: number | undefined;
}

export interface StandingsDeps extends TroublesDeps {
  /** Whether the account's key can be proved by a call that makes nothing. If not, a task tries it. */
  readonly canTest: (lane: LaneId) => boolean;
  readonly onKeyRefused: (lane: LaneId) => void;
  /** Whether the account no longer exists, though its provider has others. By default every account exists. */
  readonly isGone?: (lane: LaneId) => boolean;
}

/** Faults in a row: how many, the task of the latest one, and whose tasks had them; `callers` is absent if that is not known. */
interface Faults extends Pick<RouteTrouble, "callers"> {
  readonly count: number;
  readonly task: TaskId | undefined;
}

/** Faults in a row that open the breaker of a route. */
export const OPENS_AFTER = 5;
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 600_000;
/** The pause of an account without money, if its upstream names no time. */
const SPENT_MS = 3_600_000;
/** How long a probe delays others if nobody reports its end, because the process was stopped. */
const PROBE_MS = 120_000;
/** How soon another task of a caller who has met nothing looks what became of the one that tries. */
const LOOKS_EVERY_MS = 5_000;
/**
 * Keeps tasks from routes that do not work. A route that fails several times in a row rests for half a minute and is then tried
 * with one task. Whenever that fails, it rests for twice as long. While it has failed for one caller alone, it keeps away only that
 * caller's tasks: what they ask for may be the cause. When it has failed for two, one task of another caller tries it at once.
 */
export class RouteStandings implements RouteStanding {
  readonly #troubles: Troubles;
  readonly #clock: TroublesDeps["clock"];
  /** Faults in a row, by request type and route. */
  readonly #faults = new Map<string, Faults>();

  readonly #deps: StandingsDeps;

  constructor(deps: StandingsDeps) {
    this.#troubles = new Troubles(deps);
    this.#clock = deps.clock;
    this.#deps = deps;
  }

  /** @returns the accounts whose keys were refused to an earlier process */
  async start(): Promise<LaneId[]> {
    await this.#troubles.start((kind) => (kind === "spent" ? SPENT_MS : FIRST_WAIT_MS));
    for (const { trouble } of this.#troubles.all())
      if (this.#deps.isGone?.(trouble.lane) === true) void this.#forget(trouble);
    const lanes = new Set(this.#troubles.all().map(({ trouble }) => trouble.lane));
    return [...lanes].filter((lane) => this.isKeyRefused(lane));
  }

  /** Also what an operator has blocked, for nobody can allow it. */
  #forget(trouble: RouteTrouble): Promise<void> {
    const act = { actor: { kind: "system" }, at: this.#clock.now() } as const;
    return this.#troubles.clear(trouble, trouble.kind === "blocked" ? act : undefined);
  }

  isKeyRefused(lane: LaneId): boolean {
    return this.#troubles.find({ lane, upstreamModel: WHOLE_ACCOUNT })?.trouble.kind === "refused";
  }

  isClear(): boolean {
    return this.#troubles.isEmpty();
  }

  of(route: RouteOfLane, sender?: Sender): Standing {
    if (this.isClear()) return CLOSED;
    const all = this.#concerning(route, sender);
    const worst = all.toSorted((a, b) => this.#waitMs(b, sender) - this.#waitMs(a, sender))[0];
    if (worst === undefined) return CLOSED;
    const { kind, detail, since, until } = worst.trouble;
    const isRestOver = worst.untilMs <= this.#clock.elapsed() || mayTry(worst, sender);
    const isTried = kind !== "blocked" && isRestOver;
    return { state: isTried ? "half_open" : kind, detail, since, until: isTried ? undefined : until };
  }

  waitMs(route: RouteOfLane, sender?: Sender): number {
    const waits = this.#concerning(route, sender).map((one) =>
      this.#waitMs(one, sender, suspicionMs(one, sender)),
    );
    return Math.max(0, ...waits);
  }

  enter(route: SentRoute): number {
    const concerning = this.#concerning(route, route);
    const waitMs = Math.max(0, ...concerning.map((one) => this.#waitMs(one, route)));
    if (waitMs > 0) return waitMs;
    const probe = { by: route.taskId, untilMs: this.#clock.elapsed() + PROBE_MS };
    for (const one of concerning) one.probe = probe;
    return 0;
  }

  leave(route: SentRoute): void {
    for (const one of this.#troubles.concerning(route))
      if (one.probe?.by === route.taskId) one.probe = undefined;
  }

  worked(route: SentRoute, asked: Asked): void {
    if (this.#faults.size > 0) this.#faults.delete(`${asked} ${keyOf(route)}`);
    for (const one of this.#troubles.concerning(route)) {
      if (one.trouble.kind === "blocked" || !isShown(one.asked, asked)) continue;
      // What it does for others does not end the rest of the callers for whom alone it fails.
      if (hasMet(one.trouble, route.accountId) || this.#troubles.waitMs(one) === 0)
        void this.#troubles.clear(one.trouble);
      else if (one.trouble.servesOthers !== true) void this.#troubles.serves(one);
    }
  }

  failed(sent: SentRoute, asked: Exclude<Asked, "poll">, detail: string): void {
    const { taskId: task, accountId, ...route } = sent;
    const latest = { taskId: task, accountId };
    const known = this.#troubles.find(route);
    if (known !== undefined && keepsAway(known.trouble, accountId)) {
      // Only the task that tries it says something new.
      if (known.trouble.kind === "blocked" || known.probe === undefined || known.probe.by !== task) return;
      const { kind, times } = known.trouble;
      // It did not rest for a caller whose task tried it at once.
      const waitMs = hasMet(known.trouble, accountId) ? longerWaitMs(times + 1) : FIRST_WAIT_MS;
      this.leave(sent);
      this.#set(route, { kind, asked, detail, waitMs, callers: whoseNow(known, [accountId]), latest });
      return;
    }
    this.leave(sent);
    const counted = `${asked} ${keyOf(route)}`;
    const before = this.#faults.get(counted);
    // A task that fails again and again may itself be the cause.
    if (before?.task !== undefined && before.task === task) return;
    const count = (before?.count ?? 0) + 1;
    const callers = union(before === undefined ? [] : before.callers, [accountId]);
    this.#faults.set(counted, { count, task, callers });
    if (count < OPENS_AFTER) return;
    this.#faults.delete(counted);
    const whose = { callers: whoseNow(known, callers), latest };
    this.#set(route, { kind: "open", asked, detail, waitMs: FIRST_WAIT_MS, ...whose });
  }

  #set(route: RouteOfLane, found: Found): void {
    void this.#troubles.set(route, { ...found, detail: `${found.detail}${forWhom(found)}` });
  }

  refused(route: SentRoute, asked: Asked, refusal: Refused): void {
    const { lane, accountId } = route;
    const place = { lane, upstreamModel: refusal.kind === "route" ? route.upstreamModel : WHOLE_ACCOUNT };
    const known = this.#troubles.find(place);
    if (known !== undefined && hasMet(known.trouble, accountId) && this.#isLeftAlone(known)) return;
    this.leave(route);
    const kind = refusal.kind === "spent" ? "spent" : "refused";
    const isProvable = refusal.kind === "key" && this.#deps.canTest(lane);
    const waitMs = isProvable ? Number.POSITIVE_INFINITY : refusedForMs(refusal, known?.trouble.times ?? 0);
    // A firewall in front of the upstream refuses some requests as if it were the key, and what is left may not do for one of them.
    this.#set(place, { kind, asked, detail: refusal.detail, waitMs, callers: whoseNow(known, [accountId]) });
    if (isProvable) this.#deps.onKeyRefused(lane);
  }

  /** The account's key was tested and is refused, whoever's tasks are sent. */
  confirmed(lane: LaneId, detail: string): void {
    const place = { lane, upstreamModel: WHOLE_ACCOUNT };
    const known = this.#troubles.find(place);
    if (known?.trouble.callers === undefined) return;
    this.#set(place, { kind: "refused", asked: known.asked, detail, waitMs: Number.POSITIVE_INFINITY });
  }

  block(route: RouteOfLane, detail: string, act?: Act): Promise<void> {
    const waitMs = Number.POSITIVE_INFINITY;
    return this.#troubles.set(route, { kind: "blocked", asked: "submission", detail, waitMs }, act);
  }

  async allow({ lane, upstreamModel }: RouteOfLane, act?: Act): Promise<void> {
    const ends = ` ${keyOf({ lane, upstreamModel })}`;
    for (const counted of [...this.#faults.keys()]) if (counted.includes(ends)) this.#faults.delete(counted);
    const against = this.#troubles.all().filter(({ trouble }) => isWithin(trouble, { lane, upstreamModel }));
    await Promise.all(against.map(({ trouble }) => this.#troubles.clear(trouble, act)));
  }

  /** The account's key works again. An operator's block stays. @returns like `block` */
  async proved(lane: LaneId, act?: Act): Promise<void> {
    if (this.isKeyRefused(lane)) await this.#troubles.clear({ lane, upstreamModel: WHOLE_ACCOUNT }, act);
  }

  /** Takes up what another process has blocked or allowed. */
  look(): Promise<void> {
    return this.#troubles.look();
  }

  /** The problems that keep the sender's tasks away; without a sender, all. */
  #concerning(route: RouteOfLane, sender: Sender | undefined): readonly Known[] {
    const all = this.#troubles.concerning(route);
    if (sender === undefined || all.length === 0) return all;
    return all.filter(({ trouble }) => keepsAway(trouble, sender.accountId));
  }

  /** How long it keeps the sender's tasks away. */
  #waitMs(one: Known, sender: Sender | undefined, afterMs = 0): number {
    if (!mayTry(one, sender)) return this.#troubles.waitMs(one, afterMs);
    // Its try is soon over.
    return Math.min(LOOKS_EVERY_MS, this.#troubles.waitMs({ ...one, untilMs: 0 }));
  }

  /** Whether no task may try it now, because it is too early or an operator has decided so. */
  #isLeftAlone(known: Known): boolean {
    if (known.trouble.kind === "blocked") return true;
    return known.probe === undefined && this.#troubles.waitMs(known) > 0;
  }
}

/** Whether an answer shows that an earlier problem is over. */
function isShown(before: Asked, answered: Asked): boolean {
  return before === answered || before === "poll" || (before === "submission" && answered === "job");
}

function longerWaitMs(times: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (times - 1));
}

function refusedForMs({ kind, retryAfterMs }: Refused, times: number): number {
  return kind === "spent" ? (retryAfterMs ?? SPENT_MS) : longerWaitMs(times + 1);
}
