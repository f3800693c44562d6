import type { Account } from "../domain/access/account.ts";
import type { AlertKind, Condition, Told } from "../domain/alerts.ts";
import type { LaneId } from "../domain/ids.ts";
import { CURRENCY, formatAmount, toMicros, ZERO } from "../domain/money/money.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { CallbackStore } from "../domain/ports/callback-store.ts";
import { type RouteStore, type RouteTrouble, WHOLE_ACCOUNT } from "../domain/ports/route-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Counts } from "../domain/ports/tally.ts";
import { sizeText } from "../domain/reclaimable.ts";

/** Free space on the disk of the data folder that is too small, in bytes. */
export interface DiskTrouble {
  /** Whether new tasks are refused. */
  readonly isRefusing: boolean;
  readonly free: number;
  readonly warnBelow: number;
  readonly refuseBelow: number;
  /** What would free space, as far as it has been counted. */
  readonly advice: readonly string[];
  /** False during the first count, which takes a minute at most. */
  readonly isAdvised: boolean;
}

export interface ConditionDeps {
  readonly clock: Pick<Clock, "now">;
  readonly accounts: Pick<AccountStore, "accounts" | "lowAccounts">;
  readonly routes: Pick<RouteStore, "troubles">;
  /** Whether the account at a provider is switched on. */
  readonly isOn: (lane: LaneId) => boolean;
  readonly counts: Pick<Counts, "hour" | "minute">;
  /** Undefined while there is enough space. */
  readonly disk: () => DiskTrouble | undefined;
  readonly callbacks: Pick<CallbackStore, "givenUp">;
  /** Since when backups fail, and why; undefined if they succeed or none is wanted. */
  readonly backupFailing: () => { readonly since: number; readonly reason: string } | undefined;
}

/** A route that failed several times in a row is tried again soon. It counts as down only after this time. */
const OPEN_MS = 2 * 60_000;
/**
 * What one caller's tasks alone have met may be their fault. Where there are other accounts, it counts as down when a second caller meets
 * it, or after this time in which nobody else was served, because nobody else may have asked.
 */
const ALONE_MS = 10 * 60_000;
/** How long callbacks that were given up count as a problem, and how many are looked at. */
const DEAD_MS = 60 * 60_000;
const DEAD_MOST = 100;
/** A share of fewer tasks or requests has no meaning. */
const LEAST_TASKS = 20;
const LEAST_REQUESTS = 100;

/** The kinds of problems that only the database knows. */
const STORED: readonly AlertKind[] = ["low_balance", "route_down", "dead_callbacks"];

/** Reads the present problems, for alerts. */
export function createReadConditions(deps: ConditionDeps) {
  return async (told: readonly Told[]): Promise<Condition[]> => {
    const stored = await readStored(deps).catch((error: unknown) => unreadable(error, told));
    const disk = deps.disk();
    // A low disk is reported only when the advice is ready, so that it is reported once, with the advice. An alert that was
    // sent before stays meanwhile.
    const isTold = disk?.isAdvised === true || told.some(({ kind }) => kind === "disk_low");
    return [
      ...stored,
      ...(isTold ? diskLow(disk) : []),
      ...backupFailed(deps.backupFailing()),
      ...errorBudget(deps.counts),
    ];
  };
}

/** @throws StorageError */
async function readStored(deps: ConditionDeps): Promise<Condition[]> {
  const low = await deps.accounts.lowAccounts();
  const troubles = await deps.routes.troubles();
  // What a provider said before it was switched off keeps no task waiting.
  const present = troubles.filter(({ lane }) => deps.isOn(lane));
  const isOnlyCaller = present.some(isOfOne) && (await deps.accounts.accounts({ limit: 2 })).length < 2;
  const now = deps.clock.now();
  return [
    ...low.map(lowBalance),
    ...present.flatMap((trouble) => routeDown(trouble, { now, isOnlyCaller })),
    ...(await deadCallbacks(deps)),
  ];
}

/** The database cannot be read. What it knew when it last could is neither over nor new. */
function unreadable(error: unknown, told: readonly Told[]): Condition[] {
  const reason = error instanceof Error ? error.message : String(error);
  const known = new Map(told.map((each) => [`${each.kind} ${each.subject}`, each]));
  return [
    { kind: "database_down", subject: "", summary: `The database cannot be read: ${reason}` },
    ...[...known.values()].filter(({ kind }) => STORED.includes(kind)),
  ];
}

function lowBalance({ id, name, balance, held, creditLimit, lowBalance: level = ZERO }: Account): Condition {
  const available = toMicros(balance - held + creditLimit);
  const left = `${formatAmount(available)} ${CURRENCY} left`;
  const had = available < level ? "" : `, and had less than ${formatAmount(level)} while tasks ran`;
  const summary = `Account ${name} (${id}) has ${left}${had}; ${formatAmount(level)} is its level.`;
  return { kind: "low_balance", subject: id, summary };
}

async function deadCallbacks({ callbacks, clock }: ConditionDeps): Promise<Condition[]> {
  const count = await callbacks.givenUp(clock.now() - DEAD_MS, DEAD_MOST);
  if (count === 0) return [];
  const shown =
    count === DEAD_MOST ? `${count} callbacks or more` : `${count} ${count === 1 ? "callback" : "callbacks"}`;
  const summary = `${shown} of the last hour could not be delivered and will not be tried again; svc callbacks list --state failed --local shows them.`;
  return [{ kind: "dead_callbacks", subject: "", summary }];
}

const isOfOne = ({ callers }: RouteTrouble): boolean => callers?.length === 1;

function routeDown(
  trouble: RouteTrouble,
  { now, isOnlyCaller }: { readonly now: number; readonly isOnlyCaller: boolean },
): Condition[] {
  const { lane, upstreamModel, kind, detail, since } = trouble;
  const leastMs = isOfOne(trouble) && !isOnlyCaller ? ALONE_MS : kind === "open" ? OPEN_MS : 0;
  if (kind === "blocked" || trouble.servesOthers === true || now - since < leastMs) return [];
  const [subject, what] =
    upstreamModel === WHOLE_ACCOUNT
      ? [lane, `account ${lane}`]
      : [`${lane}:${upstreamModel}`, `${lane}, ${upstreamModel}`];
  return [{ kind: "route_down", subject, summary: `No tasks go to ${what}: ${detail} (${kind}).`, since }];
}

function diskLow(trouble: DiskTrouble | undefined): Condition[] {
  if (trouble === undefined) return [];
  const { isRefusing, free, warnBelow, refuseBelow, advice } = trouble;
  const refused = isRefusing
    ? "new tasks are refused"
    : refuseBelow === 0
      ? "new tasks are taken"
      : `new tasks are refused below ${sizeText(refuseBelow)}`;
  const below = Math.max(warnBelow, isRefusing ? refuseBelow : 0);
  const what = `The disk of the data folder has ${sizeText(free)} left, less than ${sizeText(below)}; ${refused}.`;
  const ways = advice.length === 0 ? "" : ` What would free space: ${advice.join("; ")}.`;
  return [{ kind: "disk_low", subject: "", summary: what + ways }];
}

function backupFailed(failing: ReturnType<ConditionDeps["backupFailing"]>): Condition[] {
  if (failing === undefined) return [];
  const since = new Date(failing.since).toISOString();
  return [
    {
      ...{ kind: "backup_failed", subject: "", since: failing.since },
      summary: `No backup could be made since ${since}: ${failing.reason}`,
    },
  ];
}

/** The larger of two shares: tasks of the last hour that failed, and answers of the last minute that were server errors. */
function errorBudget({ hour, minute }: ConditionDeps["counts"]): Condition[] {
  const { models } = hour();
  const failed = models.reduce((sum, model) => sum + model.failed, 0);
  const ended = models.reduce((sum, model) => sum + model.failed + model.completed, 0);
  const { answered } = minute();
  const answers = Object.values(answered).reduce((sum, count) => sum + count, 0);
  const ofTasks = ended < LEAST_TASKS ? 0 : (failed / ended) * 100;
  const ofAnswers = answers < LEAST_REQUESTS ? 0 : (answered["5xx"] / answers) * 100;
  const summary = `${ofTasks.toFixed(1)} % of the tasks that ended in the last hour failed (${failed} of ${ended}), and ${ofAnswers.toFixed(1)} % of the answers of the last minute were errors of the server.`;
  return [{ kind: "error_budget", subject: "", summary, level: Math.max(ofTasks, ofAnswers) }];
}
