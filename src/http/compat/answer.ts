import type { ResponseFormat } from "../../domain/access/key-policy.ts";
import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type Asset, assetPath } from "../../domain/media/asset.ts";
import { formatAmount } from "../../domain/money/money.ts";
import type { AssetStore } from "../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../domain/ports/task-store.ts";
import type { TaskSummary, Usage } from "../../domain/task/task.ts";
import { readAsset } from "../../service/read-asset.ts";
import { base64Pieces, bodyInPieces } from "../pieces.ts";
import type { Reply } from "../reply.ts";
import { presentIssues } from "../tasks/present.ts";
import { type AskedFacts, adjustedFields, factsOfImage } from "./made.ts";

export interface AnswerDeps {
  readonly tasks: TaskStore;
  readonly assets: AssetStore;
}

/** Answers with the images of a completed task in the requested form (docs/api.md 5.3). One entry of `data` has `b64_json` or `url`, never both. */
export async function imagesReply(
  deps: AnswerDeps,
  task: TaskSummary,
  form: {
    readonly format: ResponseFormat;
    readonly origin: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly asked: AskedFacts;
    /** The parameters with which the model was called. */
    readonly sent: AskedFacts;
    /** Called if the reader disconnects during an answer that is read from disk. */
    readonly leave: () => void;
  },
): Promise<Reply> {
  if (task.filesRemovedAt !== undefined) throw lost(task);
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
  const { body, over } = await bodyInPieces(pieces, contents, form.leave);
  return reply(body, over);
}

/** What is known about a completed task's images. */
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
        throw new AppError("internal_error", facts, { taskId: task.id, shouldRetry: false }, error);
      }),
    ),
  );
}

function lost({ id: taskId }: TaskSummary, cause?: unknown): AppError {
  const facts = { kind: "result_lost", task: taskId } as const;
  return new AppError("internal_error", facts, { taskId, shouldRetry: false }, cause);
}

/** What an answer contains besides its images. */
export function factsOf({ usage, resultIssues }: TaskSummary): JsonObject {
  const missing = resultIssues === undefined ? {} : { result_issues: presentIssues(resultIssues) };
  return { ...missing, usage: presentUsage(usage) };
}

/** When a task was completed, in Unix seconds. */
export function createdOf(task: TaskSummary): number {
  return Math.floor((task.completedAt ?? task.createdAt) / 1000);
}

/**
 * Token counts under the names of both generations of that API's clients (docs/api.md 5.3); zero if the upstream reports none.
 */
function presentUsage(usage: Usage | undefined): JsonObject {
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

async function* answerPieces(created: number, images: readonly Blob[], facts: JsonObject) {
  let before = `{"created":${created},"data":[{"b64_json":"`;
  for (const image of images) {
    yield before;
    yield* base64Pieces(image);
    before = `"},{"b64_json":"`;
  }
  yield `"}],${JSON.stringify(facts).slice(1)}`;
}
