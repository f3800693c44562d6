import type { JsonObject } from "../../../domain/json.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../domain/task/task.ts";
import { type AnswerDeps, openImages } from "../../compat/answer.ts";
import { base64Pieces, bodyInPieces, joined } from "../../pieces.ts";
import { json, type Reply } from "../../reply.ts";
import { fileOf, outputOf } from "./present.ts";

export interface ResultDeps extends AnswerDeps {
  readonly tasks: TaskStore;
}

interface Answering {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the answer is the one event of a stream. */
  readonly isStream?: boolean;
  /** Called if the reader disconnects during an answer that is read from disk. */
  readonly leave?: () => void;
}

const EVENT = { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } as const;

/** Answers with what a completed task has made. */
export async function resultReply(
  deps: ResultDeps,
  task: TaskSummary,
  { origin, headers, isStream = false, leave = () => {} }: Answering,
): Promise<Reply> {
  const log = { task: task.id, model: task.model };
  const output = await outputOf(deps, task, origin);
  const isInline = (await deps.tasks.requestOf(task))?.isInline && task.filesRemovedAt === undefined;
  if (!isInline) {
    const reply = json(output, headers, log);
    if (!isStream) return reply;
    return { ...reply, headers: { ...reply.headers, ...EVENT }, body: `data: ${String(reply.body)}\n\n` };
  }
  const pictures = await openImages(deps, task);
  const pieces = withContents(output, pictures);
  const contents = pictures.map(({ content }) => content);
  const { body, over } = await bodyInPieces(
    isStream ? joined("data: ", pieces, "\n\n") : pieces,
    contents,
    leave,
  );
  const type = isStream ? EVENT : { "Content-Type": "application/json" };
  return { status: 200, headers: { ...headers, ...type }, body, over, log };
}

/** An output with its pictures as data URIs in place of their addresses, piece by piece, as JSON. */
async function* withContents(
  { images: _, ...rest }: JsonObject,
  pictures: Awaited<ReturnType<typeof openImages>>,
): AsyncGenerator<string> {
  yield '{"images":[';
  for (const [i, { asset, content }] of pictures.entries()) {
    const { url: _address, ...facts } = fileOf(asset, "");
    yield `${i === 0 ? "" : ","}{"url":"data:${asset.type};base64,`;
    yield* base64Pieces(content);
    yield `",${JSON.stringify(facts).slice(1)}`;
  }
  yield `],${JSON.stringify(rest).slice(1)}`;
}
