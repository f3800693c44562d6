import { isId } from "../../../src/domain/ids.ts";
import type { Client } from "../../client/client.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";

/** Finds a callback's id by that id or by its task's. @throws Failure when the task has no callback */
export async function callbackIdOf({ callbacks }: Client, idOrTask: string): Promise<string> {
  if (!isId("task", idOrTask)) return idOrTask;
  const [found] = (await callbacks({ task_id: idOrTask, limit: "1" })).callbacks;
  if (found !== undefined) return found.id;
  throw new Failure(EXIT.notFound, "not_found", `${idOrTask} has no callback.`, {
    hint: "A task with a callback_url has one once it completed or failed.",
  });
}
