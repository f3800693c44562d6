import { formatAmount } from "../../../domain/money/money.ts";
import { type ReadStoryDeps, readStory } from "../../../service/read-story.ts";
import { type RetryTaskDeps, retryTask } from "../../../service/retry-task.ts";
import { counted, type Endpoint, polled } from "../../exchange.ts";
import { hopsOf } from "../../hops.ts";
import { idempotencyKeyOf } from "../../idempotency-key.ts";
import { success } from "../../reply.ts";
import { routingOf } from "../../routing.ts";
import { presentOwnStory } from "./present.ts";
import { READ_STORY, RETRY_TASK } from "./wire.ts";

/** The whole story of a task, and a task like it (docs/api.md 4.10, 4.11). */
export function storyEndpoints(deps: ReadStoryDeps & RetryTaskDeps): Endpoint[] {
  return [
    polled("/v1/tasks/:task_id", READ_STORY, async ({ principal, param, origin }) => {
      const story = await readStory(deps, principal, param("task_id"));
      return success(presentOwnStory(story, origin), undefined, { task: story.task.id });
    }),
    counted("/v1/tasks/:task_id/retry", RETRY_TASK, async (exchange) => {
      const { request, principal, requestId, origin, param } = exchange;
      const sent = {
        hops: hopsOf(request),
        idempotencyKey: idempotencyKeyOf(request),
        routing: routingOf(request),
      };
      const retry = { ...sent, principal, requestId, origin, id: param("task_id") };
      const { taskId, held, replayed, retryOf } = await retryTask(deps, retry);
      const headers: Record<string, string> = { "X-Request-Cost": formatAmount(held) };
      if (replayed) headers["X-Idempotent-Replay"] = "true";
      return success({ task_id: taskId, retry_of: retryOf }, headers, { task: taskId });
    }),
  ];
}
