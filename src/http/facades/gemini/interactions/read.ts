import { mustBe } from "../../../../domain/errors.ts";
import type { AssetStore } from "../../../../domain/ports/asset-store.ts";
import type { TaskStore } from "../../../../domain/ports/task-store.ts";
import type { TaskSummary } from "../../../../domain/task/task.ts";
import { type CancelTaskDeps, cancelTask } from "../../../../service/cancel-task.ts";
import { readTask } from "../../../../service/read-task.ts";
import { type RemoveTaskDeps, removeTask } from "../../../../service/remove-task.ts";
import { openImages } from "../../../compat/answer.ts";
import type { KeyedExchange } from "../../../exchange.ts";
import { bodyInPieces } from "../../../pieces.ts";
import { json, type Reply } from "../../../reply.ts";
import { costOf } from "../operation.ts";
import { addressed, interactionPieces, presentHead } from "./present.ts";

export type ReadInteractionDeps = CancelTaskDeps &
  RemoveTaskDeps & { readonly tasks: TaskStore; readonly assets: AssetStore };

/** Up to this much, a video is in the answer itself, as there (https://docs.comfy.org/zh/development/comfy-router/models/gemini-interactions/gemini-omni-flash-preview/code, checked 2026-11-29). */
const INLINE_VIDEO_BYTES = 4 * 1024 * 1024;

/** Answers with a task as an interaction, whichever API it came by. */
export async function readInteraction(deps: ReadInteractionDeps, exchange: KeyedExchange): Promise<Reply> {
  const stream = exchange.query().get("stream");
  if (stream === "true") throw mustBe("stream", { rule: "be absent: read it again until it has ended" });
  const task = await readTask(deps, exchange.principal, exchange.param("interaction"));
  if (task.results.length === 0) return withoutResults(task);
  return withResults(deps, exchange, task);
}

const withoutResults = (task: TaskSummary): Reply =>
  json({ ...presentHead(task, true), steps: [] }, { "X-Request-Cost": costOf(task) }, { task: task.id });

/** How they are to be delivered was a wish of the request, so that what is small has both its address and its content. */
async function withResults(
  deps: ReadInteractionDeps,
  { origin }: KeyedExchange,
  task: TaskSummary,
): Promise<Reply> {
  const made = task.filesRemovedAt === undefined ? await openImages(deps, task) : [];
  const sizeBytes = made.reduce((sum, { content }) => sum + content.size, 0);
  const contents =
    task.kind === "image" || sizeBytes <= INLINE_VIDEO_BYTES ? made.map(({ content }) => content) : [];
  const files = task.results.map((result, i) => addressed(origin, result, contents[i]));
  const pieces = interactionPieces(task, files, true);
  const { body, over } = await bodyInPieces(pieces, contents, () => {});
  const headers = { "Content-Type": "application/json", "X-Request-Cost": costOf(task) };
  return { status: 200, headers, body, over, log: { task: task.id } };
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
