import { mustBe } from "../../../../domain/errors.ts";
import type { Asset } from "../../../../domain/media/asset.ts";
import type { AssetStore } from "../../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../../service/cancel-task.ts";
import { readTask } from "../../../../service/read-task.ts";
import { type RemoveTaskDeps, removeContents, removeTask } from "../../../../service/remove-task.ts";
import type { KeyedExchange } from "../../../exchange.ts";
import { begun, bodyInPieces, isAtOnce } from "../../../pieces.ts";
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
  { origin, principal }: KeyedExchange,
  task: TaskSummary,
): Promise<Reply> {
  const inline = await inlineOf(deps, task);
  const end = await held(deps, task, inline);
  try {
    const contents = await Promise.all(inline.map((file) => file && deps.assets.open(file)));
    const isLost = inline.some((file, i) => file !== undefined && contents[i] === undefined);
    if (isLost) await readTask(deps, principal, task.id);
    const files = task.results.map((result, i) => addressed(origin, result, contents[i]));
    const pieces = await begun(interactionPieces(task, files, true));
    const opened = contents.filter((content) => content !== undefined);
    const { body, over } = await bodyInPieces(pieces, opened, () => {});
    if (over === undefined) await end();
    else void over.then(end);
    const headers = { "Content-Type": "application/json", "X-Request-Cost": costOf(task) };
    return { status: 200, headers, body, over, log: { task: task.id } };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * The files whose contents are in the answer itself, by their places. What is not is not opened, because a bucket would send it whole. A
 * file that is lost has its address alone: the task has ended all the same, and a client would ask again after an error.
 */
async function inlineOf(
  { tasks }: Pick<ReadInteractionDeps, "tasks">,
  { kind, results, filesRemovedAt }: TaskSummary,
): Promise<readonly (Asset | undefined)[]> {
  if (filesRemovedAt !== undefined) return [];
  const files = await Promise.all(results.map(({ assetId }) => tasks.assetById(assetId)));
  const sizeBytes = sizeOf(files);
  return kind === "video" && sizeBytes > INLINE_VIDEO_BYTES ? [] : files;
}

const sizeOf = (files: readonly (Asset | undefined)[]): number =>
  files.reduce((sum, file) => sum + (file?.sizeBytes ?? 0), 0);

/**
 * Holds files that are told after the answer has begun, so that a task that is deleted meanwhile does not break it off. What is told at
 * once needs no hold.
 * @returns ends the hold, and removes what would have gone with the task
 */
async function held(
  deps: ReadInteractionDeps,
  { id }: Pick<TaskSummary, "id">,
  inline: readonly (Asset | undefined)[],
): Promise<() => Promise<void>> {
  if (isAtOnce(sizeOf(inline))) return async () => {};
  const files = inline.filter((file) => file !== undefined);
  const holds = await Promise.all(files.map((file) => deps.assets.hold(file)));
  const contents = files.map(({ sha256 }) => sha256);
  return async () => {
    try {
      for (const hold of holds) await hold?.release(true);
      if ((await deps.tasks.summary(id)) === undefined) await removeContents(deps, contents);
    } catch (error) {
      // The collector removes them later.
      deps.log.warn(
        { err: error as Error, task: id },
        "whether files go with their task could not be looked up",
      );
    }
  };
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
