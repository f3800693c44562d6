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
import { presentIssues } from "../tasks/present.ts";
import { type AskedFacts, adjustedFields, factsOfImage } from "./made.ts";

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
    readonly asked: AskedFacts;
    /** What the model was asked for then. */
    readonly sent: AskedFacts;
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
  const stored = await storedAssets(deps, task);
  const images = stored.map((asset) => factsOfImage(asset, task.usage?.made, form.sent));
  const adjusted = adjustedFields(form.asked, images);
  if (adjusted.length > 0) headers["X-Svc-Adjusted"] = adjusted.join(", ");
  const facts = { ...images[0], ...factsOf(task) };
  const reply = (body: Reply["body"], over?: Promise<void>): Reply => ({
    status: 200,
    headers,
    body,
    over,
    log,
  });
  const created = createdOf(task);
  if (form.format === "url") {
    const data = task.results.map((result) => ({
      url: form.origin + assetPath({ ...result, id: result.assetId }),
    }));
    return reply(JSON.stringify({ created, data, ...facts }));
  }
  const contents = (await openImages(deps, task)).map(({ content }) => content);
  const pieces = answerPieces(created, contents, facts);
  const sizeBytes = contents.reduce((sum, image) => sum + image.size, 0);
  if (sizeBytes > AT_ONCE_BYTES) {
    const over = Promise.withResolvers<void>();
    return reply(streamOf(pieces, form.leave, over.resolve), over.promise);
  }
  let body = "";
  for await (const piece of pieces) body += piece;
  return reply(body);
}

/** What is known of a completed task's images. */
async function storedAssets({ tasks }: AnswerDeps, task: TaskSummary): Promise<Asset[]> {
  const assets = await Promise.all(task.results.map(({ assetId }) => tasks.assetById(assetId)));
  return assets.filter((asset) => asset !== undefined);
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

/** What an answer says besides its images. */
export function factsOf({ usage, resultIssues }: TaskSummary): JsonObject {
  const missing = resultIssues === undefined ? {} : { result_issues: presentIssues(resultIssues) };
  return { ...missing, usage: presentUsage(usage) };
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

async function* answerPieces(created: number, images: readonly Blob[], facts: JsonObject) {
  let before = `{"created":${created},"data":[{"b64_json":"`;
  for (const image of images) {
    yield before;
    yield* base64Pieces(image);
    before = `"},{"b64_json":"`;
  }
  yield `"}],${JSON.stringify(facts).slice(1)}`;
}

/** A body that is made on demand, so that a slow reader holds one piece in memory. Calls `leave` where it is left, and `onEnd` at any end. */
function streamOf(
  pieces: AsyncGenerator<string>,
  leave: () => void,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Nobody cancels a body that cannot be read any more.
        const { done, value } = await pieces.next().catch((error: unknown) => {
          onEnd();
          throw error;
        });
        if (!done) return controller.enqueue(encoder.encode(value));
        controller.close();
        onEnd();
      },
      async cancel() {
        leave();
        onEnd();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
