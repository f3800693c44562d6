import type { ResponseFormat } from "../../domain/access/key-policy.ts";
import type { TaskId } from "../../domain/ids.ts";
import { assetPath } from "../../domain/media/asset.ts";
import type { Clock, Log, PreviewFeed } from "../../domain/ports/runtime.ts";
import type { Preview } from "../../domain/task/preview.ts";
import type { TaskSummary } from "../../domain/task/task.ts";
import { type LatestPreview, openLatestPreview } from "../../service/latest-preview.ts";
import { base64Pieces, joined } from "../pieces.ts";
import { previewData } from "../preview-data.ts";
import { problem, toAppError } from "../problem.ts";
import type { Reply } from "../reply.ts";
import { type EventWriter, eventReply } from "../sse.ts";
import type { Standing } from "../standing.ts";
import { orLeave } from "../waiting.ts";
import { type AnswerDeps, createdOf, factsOf, openImages } from "./answer.ts";
import { type AskedFacts, adjustedFields, factsOfImage, formatOf } from "./made.ts";

export interface StreamDeps extends AnswerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly previews: PreviewFeed;
}

/** A call to answer with a stream. */
interface StreamedCall {
  /** `image_generation` or `image_edit`. */
  readonly event: string;
  readonly taskId: TaskId;
  readonly requestId: string;
  readonly asked: AskedFacts;
  /** The parameters with which the model was called. */
  readonly sent: AskedFacts;
  readonly format: ResponseFormat;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly gone: AbortSignal;
  readonly standing: Standing;
  /** Waits for the task; aborted when the caller disconnects. */
  readonly finish: (gone: AbortSignal) => Promise<TaskSummary>;
  /** Called if the reader disconnects before it has received all images. */
  readonly leave: () => void;
}

/**
 * The answer to `stream: true`: previews and keep-alives while the task runs, then one completed event for each image. An error
 * after the answer began is an event, as clients of that API expect.
 */
export function streamReply(deps: StreamDeps, call: StreamedCall): Reply {
  const log = { task: call.taskId };
  // Subscribes now, because the first preview may come before anybody reads.
  const previews = openLatestPreview(deps.previews, call.taskId);
  const write = async (events: EventWriter, over: AbortSignal) => {
    try {
      const show = (preview: Preview) => writePreview(deps, events, preview, call);
      const task = await untilDone(call.finish(over), previews, show);
      await orLeave(call, () => writeImages(deps, events, task, call));
      if (over.aborted) call.leave();
    } catch (error) {
      const failure = toAppError(error, false);
      if (failure.code === "internal_error" && failure.cause !== undefined) {
        deps.log.error({ request_id: call.requestId, err: failure.cause as Error }, "unexpected error");
      }
      const { body } = problem(failure, "compatible");
      await events.event({ name: "error", data: String(body) });
    } finally {
      previews.stop();
    }
  };
  const onError = (error: unknown) =>
    deps.log.error({ request_id: call.requestId, err: error as Error }, "a stream of images failed");
  const reply = eventReply(
    { clock: deps.clock, signal: call.gone, standing: call.standing, form: "answer", write, onError },
    log,
  );
  return { ...reply, headers: { ...reply.headers, "X-Task-Id": call.taskId, ...call.headers } };
}

/** Passes on a task's previews one at a time until `task` resolves. Drops previews that were not passed on by then. */
async function untilDone<T>(
  task: Promise<T>,
  previews: LatestPreview,
  show: (preview: Preview) => Promise<void>,
): Promise<T> {
  let isDone = false;
  const done = task.finally(() => {
    isDone = true;
  });
  for (;;) {
    await Promise.race([done, previews.arrival()]);
    if (isDone) return task;
    const preview = previews.take();
    if (preview !== undefined) await show(preview);
  }
}

async function writeImages(deps: AnswerDeps, events: EventWriter, task: TaskSummary, call: StreamedCall) {
  const { event, format, origin } = call;
  const type = `${event}.completed`;
  for (const { asset, content } of await openImages(deps, task)) {
    const made = factsOfImage(asset, task.usage?.made, call.sent);
    const adjusted = adjustedFields(call.asked, [made]);
    const facts = JSON.stringify({
      created_at: createdOf(task),
      ...made,
      ...(adjusted.length === 0 ? {} : { adjusted }),
      ...factsOf(task),
    });
    const image =
      format === "url"
        ? [`"url":${JSON.stringify(origin + assetPath(asset))}`]
        : joined('"b64_json":"', base64Pieces(content), '"');
    await events.event({ name: type, data: joined(`{"type":"${type}",`, image, `,${facts.slice(1)}`) });
  }
}

function writePreview({ clock }: StreamDeps, events: EventWriter, preview: Preview, call: StreamedCall) {
  const type = `${call.event}.partial_image`;
  const facts = {
    type,
    partial_image_index: preview.index,
    created_at: Math.floor(clock.now() / 1000),
    size: call.sent.size ?? call.asked.size ?? "auto",
    quality: call.sent.quality ?? "auto",
    background: call.sent.background ?? "auto",
    output_format: formatOf(preview.type),
  };
  return events.event({ name: type, data: previewData(facts, preview.bytes) });
}
