import { readStory } from "../../../service/read-story.ts";
import { type ReadTraceDeps, readTrace } from "../../../service/read-trace.ts";
import { type RetryTaskDeps, retryTask } from "../../../service/retry-task.ts";
import { accepted } from "../../accepted.ts";
import { optionalBody } from "../../body.ts";
import { counted, type Endpoint, type KeyedExchange, polled } from "../../exchange.ts";
import { hopsOf } from "../../hops.ts";
import { idempotencyKeyOf } from "../../idempotency-key.ts";
import { succeeding, success } from "../../reply.ts";
import { routingOf } from "../../routing.ts";
import { presentOwnTrace } from "../trace/present.ts";
import { READ_TRACE } from "../trace/wire.ts";
import { presentOwnStory } from "./present.ts";
import { READ_STORY, RETRY, RETRY_TASK } from "./wire.ts";

/** The whole story of a task, a task like it, and where its time went (docs/api.md 4.10 to 4.12). */
export function storyEndpoints(deps: ReadTraceDeps & RetryTaskDeps): Endpoint[] {
  async function story({ principal, param, origin }: KeyedExchange) {
    const read = await readStory(deps, principal, param("task_id"));
    return success(presentOwnStory(read, origin), undefined, { task: read.task.id });
  }
  async function trace({ principal, param, origin }: KeyedExchange) {
    const read = await readTrace(deps, principal, param("task_id"));
    return success(presentOwnTrace(read, origin), undefined, { task: read.task.id });
  }
  async function retry(exchange: KeyedExchange) {
    const { request, principal, requestId, origin, param } = exchange;
    await optionalBody(exchange, RETRY);
    const sent = {
      hops: hopsOf(request),
      idempotencyKey: idempotencyKeyOf(request),
      routing: routingOf(request),
      trace: exchange.trace,
      gone: () => request.signal,
    };
    const asked = { ...sent, principal, requestId, origin, id: param("task_id") };
    const created = await retryTask(deps, asked);
    const { taskId: task, retryOf } = created;
    const body = succeeding(JSON.stringify({ task_id: task, retry_of: retryOf }));
    return accepted(created, { body, log: { task } });
  }
  return [
    polled("/v1/tasks/:task_id", READ_STORY, story, "reads"),
    polled("/v1/tasks/:task_id/trace", READ_TRACE, trace, "reads"),
    counted("/v1/tasks/:task_id/retry", RETRY_TASK, retry, "creates"),
  ];
}
