import { mustBe } from "../../../../domain/errors.ts";
import type { AssetStore } from "../../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../../service/cancel-task.ts";
import { readTask } from "../../../../service/read-task.ts";
import { type RemoveTaskDeps, removeTask } from "../../../../service/remove-task.ts";
import type { KeyedExchange } from "../../../exchange.ts";
import { begun, bodyInPieces } from "../../../pieces.ts";
import { json, type Reply } from "../../../reply.ts";
import { costOf } from "../operation.ts";
import { addressed, interactionPieces, presentHead } from "./present.ts";

export type ReadInteractionDeps = CancelTaskDeps &
  RemoveTaskDeps & { readonly tasks: TaskStore; readonly assets: AssetStore };

/** Up to this much, a video is in the answer itself, as there (https://docs.comfy.org/zh/development/comfy-router/models/gemini-interactions/gemini-omni-flash-preview/code, checked 2026-11-29). */
const INLINE_VIDEO_BYTES = 4 * 1024 * 1024;

/** Answers with a task as an interaction, whichever API it came by. @throws AppError `task_not_found`, also if it is deleted meanwhile */
export async function readInteraction(deps: ReadInteractionDeps, exchange: KeyedExchange): Promise<Reply> {
  const stream = exchange.query().get("stream");
  if (stream === "true") throw mustBe("stream", { rule: "be absent: read it again until it has ended" });
  const task = await readTask(deps, exchange.principal, exchange.param("interaction"));
  if (task.results.length === 0) return withoutResults(task);
  return withResults(deps, exchange, task).catch(async (error: unknown) => {
    // A task that is deleted meanwhile takes its files along.
    await readTask(deps, exchange.principal, task.id);
    throw error;
  });
}

const withoutResults = (task: TaskSummary): Reply =>
  json({ ...presentHead(task, true), steps: [] }, { "X-Request-Cost": costOf(task) }, { task: task.id });

/** How they are to be delivered was a wish of the request, so that what is small has both its address and its content. */
async function withResults(
  deps: ReadInteractionDeps,
  { origin }: KeyedExchange,
  task: TaskSummary,
): Promise<Reply> {
  const contents = await contentsOf(deps, task);
  const files = task.results.map((result, i) => addressed(origin, result, contents[i]));
  const pieces = await begun(interactionPieces(task, files, true));
  const opened = contents.filter((content) => content !== undefined);
  const { body, over } = await bodyInPieces(pieces, opened, () => {});
  const headers = { "Content-Type": "application/json", "X-Request-Cost": costOf(task) };
  return { status: 200, headers, body, over, log: { task: task.id } };
}

/**
 * The contents that are in the answer itself, by their places. What is not is not opened, because a bucket would send it whole. A file
 * that is lost has its address alone: the task has ended all the same, and a client would ask again after an error.
 */
async function contentsOf(
  { tasks, assets }: Pick<ReadInteractionDeps, "tasks" | "assets">,
  { kind, results, filesRemovedAt }: TaskSummary,
): Promise<readonly (Blob | undefined)[]> {
  if (filesRemovedAt !== undefined) return [];
  const files = await Promise.all(results.map(({ assetId }) => tasks.assetById(assetId)));
  const sizeBytes = files.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0);
  if (kind === "video" && sizeBytes > INLINE_VIDEO_BYTES) return [];
  return Promise.all(files.map((file) => file && assets.open(file)));
}

/** Cancels a task. One that is under way may end later. */
export async function cancelInteraction(
  deps: ReadInteractionDeps,
  { principal, param }: KeyedExchange,
): Promise<Reply> {
  return withoutResults(await cancelTask(deps, principal, param("interaction")));
}

/** Deletes a task that has ended, with its files. */
export async function deleteInteraction(
  deps: ReadInteractionDeps,
  { principal, param }: KeyedExchange,
): Promise<Reply> {
  const task = await removeTask(deps, principal, param("interaction"));
  return json({}, undefined, { task });
}
