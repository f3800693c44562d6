import type { Principal } from "../domain/access/account.ts";
import { allowsFeature } from "../domain/access/permissions.ts";
import { AppError, invalid } from "../domain/errors.ts";
import type { GroupId, TaskId } from "../domain/ids.ts";
import type { JsonObject } from "../domain/json.ts";
import { type Micros, sumMicros } from "../domain/money/money.ts";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { TaskStore } from "../domain/ports/task-store.ts";
import { featureOf, groupIdOf } from "../domain/task/group.ts";
import type { GroupPolicy } from "../domain/task/group-terms.ts";
import type { TaskKind } from "../domain/task/request.ts";
import { callbackOf } from "./asked-callback.ts";
import type { CancelLater } from "./cancel-later.ts";
import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import type { CreatedTask } from "./created-task.ts";
import { type ExpandedTask, expandGroup, type GroupBody } from "./expand-group.ts";
import { GivenUp, GroupRefused, gatherAdmissions } from "./gather-admissions.ts";
import type { GroupRaces } from "./group-races.ts";
import { type ModelDeps, readModel } from "./read-model.ts";

export interface CreateGroupDeps extends ModelDeps {
  readonly tasks: Pick<TaskStore, "admitAll">;
  readonly createTask: CreateTask;
  readonly cancelLater: Pick<CancelLater, "plan">;
  readonly races: Pick<GroupRaces, "follow">;
  readonly clock: Pick<Clock, "now">;
  readonly egress: Pick<Egress, "refusal">;
}

export interface CreateGroupRequest
  extends Pick<
    CreateTaskRequest,
    "principal" | "requestId" | "origin" | "hops" | "idempotencyKey" | "routing" | "gone" | "trace"
  > {
  /** The request as the schema accepts it, which is its identity. */
  readonly body: JsonObject;
  readonly asked: GroupBody;
  readonly policy: GroupPolicy;
  /** The most that all tasks together may hold. */
  readonly budget?: Micros | undefined;
  /** After this time, tasks that have not ended are cancelled. */
  readonly deadlineSec?: number | undefined;
  /** The address that is called after all have ended. */
  readonly callbackUrl?: string | undefined;
}

export interface CreatedGroup {
  readonly id: GroupId;
  readonly tasks: readonly TaskId[];
  readonly held: Micros;
  readonly replayed: boolean;
}

/** Endpoint of the creates of a group; the place is appended. */
const ENDPOINT = "POST /v1/groups";

/**
 * Creates a task for each model and combination of a grid, or none. Each task goes through the create up to its admission, and
 * all are stored in one transaction.
 * @throws AppError like the create of the first refused task, naming the field as the caller gave it; `invalid_request` naming
 * `budget` if the holds exceed it; `permission_denied` if the key may not create a kind
 */
export async function createGroup(
  deps: CreateGroupDeps,
  { body, asked, policy, budget, deadlineSec, callbackUrl, ...request }: CreateGroupRequest,
): Promise<CreatedGroup> {
  const expanded = expandGroup(asked);
  const kinds = expanded.map((member) => kindOf(deps, request, member));
  const cancelAt = deadlineSec === undefined ? undefined : deps.clock.now() + deadlineSec * 1000;
  const gathering = gatherAdmissions(deps.tasks, {
    count: expanded.length,
    terms: { policy, ...(callbackUrl !== undefined && { callbackUrl }) },
    // Checked only for a new group, because a repeated request gets its earlier answer even if it would be refused today.
    check(cost) {
      if (budget !== undefined && cost > budget)
        throw invalid({ kind: "above_max_cost", field: "budget", cost, most: budget });
      const { concurrency } = request.principal.policy;
      if (concurrency !== undefined && expanded.length > concurrency)
        throw invalid({ kind: "group_above_concurrency", tasks: expanded.length, concurrency });
      callbackOf(deps, { callback_url: callbackUrl }, undefined);
    },
  });
  const creating = expanded.map(async ({ body: own, nameOf }, place) => {
    const kind = kinds[place];
    if (kind === undefined) throw new Error("A task of a group has no kind.");
    try {
      return await deps.createTask({
        ...{ ...request, kind, body: own, cancelAt, endpoint: `${ENDPOINT} ${place}` },
        // The identity contains the whole group, so that another group with the same key is a conflict.
        identity: { group: body, place },
        admit: (admission) => gathering.admit(place, admission),
      });
    } catch (error) {
      if (error instanceof GroupRefused) throw error.refusal;
      throw error instanceof AppError ? error.renamed(nameOf) : error;
    } finally {
      // A task that never reaches its admission would hold up the others.
      gathering.giveUp();
    }
  });
  const created = allOf(await Promise.allSettled(creating));
  const tasks = created.map(({ taskId }) => taskId);
  const replayed = created.every((each) => each.replayed);
  const { accountId } = request.principal;
  if (!replayed) {
    if (cancelAt !== undefined) for (const id of tasks) deps.cancelLater.plan({ id, accountId }, cancelAt);
    if (policy === "first") deps.races.follow({ accountId, tasks });
  }
  const [first] = tasks;
  if (first === undefined) throw new Error("A group has no tasks.");
  return { id: groupIdOf(first), tasks, held: sumMicros(created.map(({ held }) => held)), replayed };
}

/** @throws the error of the first refused task */
function allOf(settled: readonly PromiseSettledResult<CreatedTask>[]): CreatedTask[] {
  const reasons: unknown[] = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  const [first] = [...reasons.filter((reason) => !(reason instanceof GivenUp)), ...reasons];
  if (first !== undefined) throw first;
  return settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

/** The kind of a task's model. @throws AppError `permission_denied` if the key may not create it */
function kindOf(
  deps: ModelDeps,
  { principal }: Pick<CreateGroupRequest, "principal">,
  { body, nameOf }: ExpandedTask,
): TaskKind {
  const kind = kindOfModel(deps, principal, body.model);
  const feature = featureOf(kind);
  if (allowsFeature(principal.policy, feature)) return kind;
  throw new AppError("permission_denied", { kind: "feature_forbidden", feature }).renamed(nameOf);
}

function kindOfModel(deps: ModelDeps, principal: Principal, id: string): TaskKind {
  try {
    return readModel(deps, principal, id).kind;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The create refuses it for the same reason, unless the request was accepted before and the model is gone since.
    return "image";
  }
}
