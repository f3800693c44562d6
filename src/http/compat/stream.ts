import type { ResponseFormat } from "../../domain/access.ts";
import { assetPath, MEDIA_TYPES } from "../../domain/asset.ts";
import type { Clock, Log } from "../../domain/ports/runtime.ts";
import type { TaskSummary } from "../../domain/task.ts";
import { problem, toAppError } from "../problem.ts";
import type { Reply } from "../reply.ts";
import { type EventWriter, eventReply } from "../sse.ts";
import { type AnswerDeps, base64Pieces, createdOf, openImages, presentUsage } from "./answer.ts";

export interface StreamDeps extends AnswerDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The answer to `stream: true`: one completed event for each image once the task is, keep-alives until then. An error after
 * the answer began is an event of its own, as clients of that API expect it.
 *
 * @param call.event `image_generation` or `image_edit`
 * @param call.finish waits for the task; aborted when the caller is gone
 */
export function streamReply(
  deps: StreamDeps,
  call: {
    readonly event: string;
    readonly taskId: string;
    readonly requestId: string;
    readonly format: ResponseFormat;
    readonly origin: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly gone: AbortSignal;
    readonly finish: (gone: AbortSignal) => Promise<TaskSummary>;
    /** Called when the reader leaves before it has all images of the completed task. */
    readonly leave: () => void;
  },
): Reply {
  const log = { task: call.taskId };
  const write = async (events: EventWriter, over: AbortSignal) => {
    try {
      await writeImages(deps, events, await call.finish(over), call);
      if (over.aborted) call.leave();
    } catch (error) {
      const failure = toAppError(error, false);
      if (failure.code === "internal_error" && failure.cause !== undefined) {
        deps.log.error({ request_id: call.requestId, err: failure.cause as Error }, "unexpected error");
      }
      const { body } = problem(failure, "compatible");
      await events.event({ name: "error", data: String(body) });
    }
  };
  const onError = (error: unknown) =>
    deps.log.error({ request_id: call.requestId, err: error as Error }, "a stream of images failed");
  const reply = eventReply({ clock: deps.clock, signal: call.gone, write, onError }, log);
  return { ...reply, headers: { ...reply.headers, "X-Task-Id": call.taskId, ...call.headers } };
}

async function writeImages(
  deps: AnswerDeps,
  events: EventWriter,
  task: TaskSummary,
  { event, format, origin }: { event: string; format: ResponseFormat; origin: string },
): Promise<void> {
  const type = `${event}.completed`;
  for (const { asset, content } of await openImages(deps, task)) {
    const facts = JSON.stringify({
      created_at: createdOf(task),
      size: `${asset.width}x${asset.height}`,
      quality: "auto",
      background: "auto",
      output_format: MEDIA_TYPES[asset.type].extension.replace("jpg", "jpeg"),
      usage: presentUsage(task.usage),
    });
    const image =
      format === "url"
        ? [`"url":${JSON.stringify(origin + assetPath(asset))}`]
        : quoted('"b64_json":', base64Pieces(content));
    await events.event({ name: type, data: joined(`{"type":"${type}",`, image, `,${facts.slice(1)}`) });
  }
}

async function* quoted(before: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${before}"`;
  yield* pieces;
  yield '"';
}

async function* joined(
  before: string,
  pieces: AsyncIterable<string> | Iterable<string>,
  after: string,
): AsyncGenerator<string> {
  yield before;
  yield* pieces;
  yield after;
}
