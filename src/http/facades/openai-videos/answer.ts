import type { AtHand } from "../../../domain/at-hand.ts";
import { AppError } from "../../../domain/errors.ts";
import type { TaskId } from "../../../domain/ids.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import type { TaskStore } from "../../../domain/ports/task-store.ts";
import type { CreatedTask } from "../../../service/created-task.ts";
import { accepted } from "../../accepted.ts";
import type { Reply } from "../../reply.ts";
import { presentNewVideo, type TellVideo, UNKNOWN } from "./present.ts";

export interface AnswerDeps {
  readonly tasks: Pick<TaskStore, "summary">;
  readonly tell: TellVideo;
}

export const noVideo = () => new AppError("task_not_found", { kind: "task_unknown" });

/** Answers with the task that a create made, had made before or joined. @param asked the size that it asked for, if any */
export function answer(deps: AnswerDeps, created: CreatedTask, asked?: Json): AtHand<Reply> {
  const { taskId, task } = created;
  // Nothing has to be waited for with a new one.
  if (task !== undefined) return replyOf(created, { ...presentNewVideo(task), model: task.model }, asked);
  return toldAgain(deps, taskId).then((told) =>
    replyOf(
      created,
      { text: JSON.stringify(told), size: String(told.size), model: String(told.model) },
      asked,
    ),
  );
}

const ADJUSTED = { "X-Svc-Adjusted": "size" } as const;

function replyOf(
  created: Pick<CreatedTask, "taskId" | "replayed" | "held">,
  told: { readonly text: string; readonly size: string; readonly model: string },
  asked: Json | undefined,
): Reply {
  const isMet = asked === undefined || asked === "auto" || told.size === asked || told.size === UNKNOWN;
  const log = { task: created.taskId, model: told.model };
  return accepted(created, { own: isMet ? undefined : ADJUSTED, body: told.text, log });
}

/** @throws AppError `task_not_found`: the first answer to a key may have been for a task that was deleted since */
async function toldAgain(deps: AnswerDeps, id: TaskId): Promise<JsonObject> {
  const task = await deps.tasks.summary(id);
  const told = task && (await deps.tell(task));
  if (told === undefined) throw noVideo();
  return told;
}
