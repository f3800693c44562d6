import { isId } from "../../../src/domain/ids.ts";
import type { Client } from "../../client/client.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";

/** The id of the callback that is meant by its own id or its task's. @throws Failure when the task has none */
export async function callbackIdOf({ callbacks }: Client, idOrTask: string): Promise<string> {
  if (!isId("task", idOrTask)) return idOrTask;
  const [found] = (await callbacks({ task_id: idOrTask, limit: "1" })).callbacks;
  if (found !== undefined) return found.id;
  throw new Failure(EXIT.notFound, "not_found", `${idOrTask} has no callback.`, {
    hint: "A task with a callback_url has one once it completed or failed.",
  });
}
