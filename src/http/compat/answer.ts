import type { ResponseFormat } from "../../domain/access/key-policy.ts";
import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type Asset, assetPath } from "../../domain/media/asset.ts";
import { formatAmount } from "../../domain/money/money.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { TaskSummary, Usage } from "../../domain/task/task.ts";
import { readAsset } from "../../service/read-asset.ts";
import type { Reply } from "../reply.ts";

export interface AnswerDeps {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
}

/** Up to this many bytes of images, the answer is built in memory. Larger ones are read from disk as the caller reads. */
const AT_ONCE_BYTES = 256 * 1024;
/** Divisible by 3, so that the pieces' base64 can be joined. */
const PIECE_BYTES = 192 * 1024;

/** Answers with the images of a completed task in the requested form (docs/api.md 5.3). One entry of `data` has `b64_json` or `url`, never both. */
export async function imagesReply(
  deps: AnswerDeps,
  task: TaskSummary,
  form: {
    readonly format: ResponseFormat;
    readonly origin: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** Called when the reader leaves during an answer that is read from disk. */
    readonly leave: () => void;
  },
): Promise<Reply> {
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Task-Id": task.id,
    ...form.headers,
  };
  if (task.charged !== undefined) headers["X-Request-Cost"] = formatAmount(task.charged);
  const log = { task: task.id, model: task.model };
  const reply = (body: Reply["body"]): Reply => ({ status: 200, headers, body, log });
  const created = createdOf(task);
  if (form.format === "url") {
    const data = task.results.map((result) => ({
      url: form.origin + assetPath({ ...result, id: result.assetId }),
    }));
    return reply(JSON.stringify({ created, data, usage: presentUsage(task.usage) }));
  }
  const images = (await openImages(deps, task)).map(({ content }) => content);
  const pieces = answerPieces(created, images, presentUsage(task.usage));
  const sizeBytes = images.reduce((sum, image) => sum + image.size, 0);
  if (sizeBytes > AT_ONCE_BYTES) return reply(streamOf(pieces, form.leave));
  let body = "";
  for await (const piece of pieces) body += piece;
  return reply(body);
}

/** The files of a completed task's images, in order. */
export function openImages(deps: AnswerDeps, task: TaskSummary): Promise<{ asset: Asset; content: Blob }[]> {
  return Promise.all(
    task.results.map(({ assetId }) =>
      readAsset(deps, assetId).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        const facts = { kind: "result_lost", task: task.id } as const;
        throw new AppError("internal_error", facts, { taskId: task.id }, error);
      }),
    ),
  );
}

/** When a task was completed, in Unix seconds. */
export function createdOf(task: TaskSummary): number {
  return Math.floor((task.completedAt ?? task.createdAt) / 1000);
}

/** Token counts under the names of both generations of that API's clients (docs/api.md 5.3); zero where the upstream reports none. */
export function presentUsage(usage: Usage | undefined): JsonObject {
  const input = usage?.inputTokens ?? 0;
  const output = usage?.outputTokens ?? 0;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
    output_tokens_details: { text_tokens: 0, image_tokens: output },
  };
}

/** A file as base64, piece by piece. */
export async function* base64Pieces(content: Blob): AsyncGenerator<string> {
  for (let at = 0; at < content.size; at += PIECE_BYTES) {
    const piece = await content.slice(at, at + PIECE_BYTES).arrayBuffer();
    yield Buffer.from(piece).toString("base64");
  }
}

async function* answerPieces(created: number, images: readonly Blob[], usage: JsonObject) {
  let before = `{"created":${created},"data":[{"b64_json":"`;
  for (const image of images) {
    yield before;
    yield* base64Pieces(image);
    before = `"},{"b64_json":"`;
  }
  yield `"}],"usage":${JSON.stringify(usage)}}`;
}

/** A body that is made on demand, so that a slow reader holds one piece in memory. */
function streamOf(pieces: AsyncGenerator<string>, leave: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        leave();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
