import { FOLLOW_UPS, type FollowUp } from "../../../domain/model/follow-up.ts";
import type { Random } from "../../../domain/ports/runtime.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import { type FollowUpDeps, followUpTask } from "../../../service/follow-up-task.ts";
import { readFamily } from "../../../service/read-family.ts";
import { varyTask } from "../../../service/vary-task.ts";
import { accepted } from "../../accepted.ts";
import { optionalBody } from "../../body.ts";
import { counted, type Endpoint, type KeyedExchange, polled } from "../../exchange.ts";
import { hopsOf } from "../../hops.ts";
import { idempotencyKeyOf } from "../../idempotency-key.ts";
import { type Reply, succeeding, success } from "../../reply.ts";
import { routingOf } from "../../routing.ts";
import { presentFamily } from "./present.ts";
import { FOLLOW_UP, familyQueryOf, READ_TREE, VARIATIONS, VARY_TASK } from "./wire.ts";

type Deps = FollowUpDeps & {
  readonly tasks: Pick<TaskStore, "story" | "summary" | "family">;
  readonly random: Random;
};

/** What is made from a task, and its family (docs/api.md 4.11). */
export function lineageEndpoints(deps: Deps): Endpoint[] {
  return [
    counted("/v1/tasks/:task_id/variations", VARY_TASK, (exchange) => vary(deps, exchange), "creates"),
    ...FOLLOW_UPS.map((name) =>
      counted(
        `/v1/tasks/:task_id/${name}`,
        FOLLOW_UP[name].contract,
        (exchange) => followUp(deps, name, exchange),
        "creates",
      ),
    ),
    polled("/v1/tasks/:task_id/tree", READ_TREE, (exchange) => tree(deps, exchange), "lists"),
  ];
}

/** Who asks, and how. */
function sentBy({ request, principal, requestId, origin, param, trace }: KeyedExchange) {
  const idempotencyKey = idempotencyKeyOf(request);
  const [hops, routing, gone] = [hopsOf(request), routingOf(request), () => request.signal];
  return { principal, requestId, origin, id: param("task_id"), hops, idempotencyKey, routing, trace, gone };
}

async function vary(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const { count = 1 } = (await optionalBody(exchange, VARIATIONS)) as { count?: number };
  const { of, created, held, refused } = await varyTask(deps, { ...sentBy(exchange), count });
  const replayed = created.every((each) => each.replayed);
  const missing = refused && {
    count: count - created.length,
    ...{ error_code: refused.code, message: refused.message },
  };
  const ids = created.map(({ taskId }) => taskId);
  const body = succeeding(JSON.stringify({ task_ids: ids, variation_of: of, refused: missing ?? null }));
  return accepted({ held, replayed }, { body, log: { task: of } });
}

async function followUp(deps: Deps, name: FollowUp, exchange: KeyedExchange): Promise<Reply> {
  const body = await optionalBody(exchange, FOLLOW_UP[name].schema);
  const created = await followUpTask(deps, { ...sentBy(exchange), followUp: name, body });
  const { taskId: task, of, model } = created;
  const answer = succeeding(JSON.stringify({ task_id: task, parent_id: of, model: model ?? null }));
  return accepted(created, { body: answer, log: { task, ...(model && { model }) } });
}

async function tree(deps: Deps, { principal, param, query, origin }: KeyedExchange): Promise<Reply> {
  const page = await readFamily(deps, principal, param("task_id"), familyQueryOf(query()));
  return success(presentFamily(page, origin));
}
