import { formatAmount } from "../../../domain/money/money.ts";
import { readStory } from "../../../service/read-story.ts";
import { type ReadTraceDeps, readTrace } from "../../../service/read-trace.ts";
import { type RetryTaskDeps, retryTask } from "../../../service/retry-task.ts";
import { counted, type Endpoint, polled } from "../../exchange.ts";
import { hopsOf } from "../../hops.ts";
import { idempotencyKeyOf } from "../../idempotency-key.ts";
import { success } from "../../reply.ts";
import { routingOf } from "../../routing.ts";
import { presentOwnTrace } from "../trace/present.ts";
import { READ_TRACE } from "../trace/wire.ts";
import { presentOwnStory } from "./present.ts";
import { READ_STORY, RETRY_TASK } from "./wire.ts";

/** The whole story of a task, a task like it, and where its time went (docs/api.md 4.10 to 4.12). */
export function storyEndpoints(deps: ReadTraceDeps & RetryTaskDeps): Endpoint[] {
  return [
    polled("/v1/tasks/:task_id", READ_STORY, async ({ principal, param, origin }) => {
      const story = await readStory(deps, principal, param("task_id"));
      return success(presentOwnStory(story, origin), undefined, { task: story.task.id });
    }),
    polled("/v1/tasks/:task_id/trace", READ_TRACE, async ({ principal, param, origin }) => {
      const trace = await readTrace(deps, principal, param("task_id"));
      return success(presentOwnTrace(trace, origin), undefined, { task: trace.task.id });
    }),
    counted("/v1/tasks/:task_id/retry", RETRY_TASK, async (exchange) => {
      const { request, principal, requestId, origin, param } = exchange;
      const sent = {
        hops: hopsOf(request),
        idempotencyKey: idempotencyKeyOf(request),
        routing: routingOf(request),
        gone: () => request.signal,
      };
      const retry = { ...sent, principal, requestId, origin, id: param("task_id") };
      const { taskId, held, replayed, retryOf } = await retryTask(deps, retry);
      const headers: Record<string, string> = { "X-Request-Cost": formatAmount(held) };
      if (replayed) headers["X-Idempotent-Replay"] = "true";
      return success({ task_id: taskId, retry_of: retryOf }, headers, { task: taskId });
    }),
  ];
}
