import type { AccountId } from "../../domain/ids.ts";
import { hasMet, type RouteTrouble } from "../../domain/ports/route-store.ts";
import type { Known, SentRoute } from "./troubles.ts";

/** Who has a task to send. */
export interface Sender extends Pick<SentRoute, "accountId" | "taskId"> {
  /** Whether the task was sent there before, in vain. */
  readonly hasTried?: boolean;
}

/** A problem that so many callers have met is everybody's, unless others were served meanwhile. One tenant may have two accounts. */
const EVERYBODY = 3;
/** As many accounts as `detail` can name. */
const MOST_NAMED = 8;

/**
 * So much longer than others a task waits to try a route that it has tried before; again as much one of the caller whose task failed
 * there last; and again as much that task. Each may be what makes it fail.
 */
const SUSPECT_MS = 2_000;

/** Whether the sender's task may try it at once, because nothing of its caller's has met it. */
export function mayTry({ trouble }: Known, sender: Sender | undefined): boolean {
  return sender !== undefined && !hasMet(trouble, sender.accountId);
}

/** Whose problem it is when tasks of these callers have met it, too; undefined: everybody's. */
export function whoseNow(
  known: Known | undefined,
  met: readonly (AccountId | undefined)[] | undefined,
): RouteTrouble["callers"] {
  const { callers, servesOthers = false } = known?.trouble ?? { callers: [] };
  const all = union(callers, met);
  return all !== undefined && (all.length < EVERYBODY || (servesOthers && all.length < MOST_NAMED))
    ? all
    : undefined;
}

/** Undefined if one of them is everybody, or not known. */
export function union(
  some: readonly AccountId[] | undefined,
  more: readonly (AccountId | undefined)[] | undefined,
): readonly AccountId[] | undefined {
  if (some === undefined || more === undefined) return undefined;
  const all = [...new Set([...some, ...more])];
  return all.every((each) => each !== undefined) ? all : undefined;
}

/** How much longer a task waits, by the signs that the task itself may be what makes a route fail. */
export function suspicionMs({ latest }: Known, { hasTried = false, accountId, taskId }: Sender = {}): number {
  const isCaller = accountId !== undefined && latest?.accountId === accountId;
  const isLatest = taskId !== undefined && latest?.taskId === taskId;
  return SUSPECT_MS * (Number(hasTried) + Number(isCaller) + Number(isLatest));
}

/** What the detail of a problem says of those whose tasks have met it. */
export function forWhom({ callers = [] }: Pick<RouteTrouble, "callers">): string {
  if (callers.length === 0) return "";
  return `, so far for account${callers.length === 1 ? "" : "s"} ${callers.join(" and ")} alone`;
}
