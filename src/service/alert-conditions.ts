import { availableOf } from "../domain/access/account.ts";
import type { Condition, Told } from "../domain/alerts.ts";
import type { AccountId } from "../domain/ids.ts";
import { CURRENCY, formatAmount } from "../domain/money/money.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
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
  readonly accounts: Pick<AccountStore, "account">;
  readonly routes: Pick<RouteStore, "troubles">;
  readonly counts: Pick<Counts, "hour" | "minute">;
  /** Undefined while there is enough space. */
  readonly disk: () => DiskTrouble | undefined;
  /** Callbacks that were given up since the start. */
  readonly deadCallbacks: () => number;
  /** Since when backups fail, and why; undefined if they succeed or none is wanted. */
  readonly backupFailing: () => { readonly since: number; readonly reason: string } | undefined;
  /** Accounts whose balance fell below their level. */
  readonly lowAccounts: ReadonlySet<AccountId>;
}

/** A route that failed several times in a row is tried again soon. It counts as down only after this time. */
const OPEN_MS = 2 * 60_000;
/** How long callbacks that were given up count as a problem. */
const DEAD_MS = 60 * 60_000;
/** A share of fewer tasks or requests has no meaning. */
const LEAST_TASKS = 20;
const LEAST_REQUESTS = 100;

/** Reads the present problems, for alerts. @throws StorageError */
export function createReadConditions(deps: ConditionDeps) {
  let dead = { count: deps.deadCallbacks(), at: Number.NEGATIVE_INFINITY };

  function deadCallbacks(): Condition[] {
    const [count, now] = [deps.deadCallbacks(), deps.clock.now()];
    if (count > dead.count) dead = { count, at: now };
    if (now - dead.at >= DEAD_MS) return [];
    const summary = `${count} callbacks were given up since the start, the latest within the last hour; svc callbacks list --local shows them.`;
    return [{ kind: "dead_callbacks", subject: "", summary }];
  }

  return async (told: readonly Told[]): Promise<Condition[]> => {
    const earlier = told
      .filter(({ kind }) => kind === "low_balance")
      .map(({ subject }) => subject as AccountId);
    const accounts = [...deps.lowAccounts.union(new Set(earlier))];
    const low = await Promise.all(accounts.map((id) => lowBalance(deps, id)));
    const troubles = await deps.routes.troubles();
    const disk = deps.disk();
    // A low disk is reported only when the advice is ready, so that it is reported once, with the advice. An alert that was
    // sent before stays meanwhile.
    const isTold = disk?.isAdvised === true || told.some(({ kind }) => kind === "disk_low");
    return [
      ...low.flat(),
      ...troubles.flatMap((trouble) => routeDown(trouble, deps.clock.now())),
      ...(isTold ? diskLow(disk) : []),
      ...deadCallbacks(),
      ...backupFailed(deps.backupFailing()),
      ...errorBudget(deps.counts),
    ];
  };
}

async function lowBalance({ accounts }: ConditionDeps, id: AccountId): Promise<Condition[]> {
  const account = await accounts.account(id);
  const level = account?.lowBalance;
  if (account === undefined || level === undefined) return [];
  // Unlimited accounts have a level too if their operator set one.
  const available = availableOf({ ...account, mode: "prepaid" });
  if (available === undefined || available >= level) return [];
  const summary = `Account ${account.name} (${id}) has ${formatAmount(available)} ${CURRENCY} left; ${formatAmount(level)} is its level.`;
  return [{ kind: "low_balance", subject: id, summary }];
}

function routeDown({ lane, upstreamModel, kind, detail, since }: RouteTrouble, now: number): Condition[] {
  if (kind === "blocked" || (kind === "open" && now - since < OPEN_MS)) return [];
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
