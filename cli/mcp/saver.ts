import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { taskOf } from "../client/answer.ts";
import { downloadResults, type SavedFile } from "../client/download.ts";
import type { Remote } from "../client/remote.ts";
import type { Sink } from "../context.ts";

/** Saves the files that a tool's result names, and adds where they are. */
export type Saver = (result: JsonObject) => Promise<JsonObject>;

/** @param folder where files go, by the names of their tasks; a file that is there already with the same content stays */
export function createSaver(remote: Remote, folder: string, stdout: Sink): Saver {
  return async (result) => {
    const { structuredContent: told, content } = result;
    const urls = isJsonObject(told) ? urlsOf(told) : [];
    if (!isJsonObject(told) || urls.length === 0) return result;
    const task = taskOf({ task_id: told.task_id, status: told.status, result: urls });
    const target = { kind: "folder", path: folder, mayReplace: false } as const;
    try {
      const files = await downloadResults(remote, task, target, stdout);
      const text = `Saved as ${files.map(({ path }) => path).join(", ")}.`;
      return {
        ...result,
        content: [...(Array.isArray(content) ? content : []), { type: "text", text }],
        structuredContent: { ...told, results: withPaths(told, files) },
      };
    } catch (error) {
      // The task is done, and its addresses are in the result.
      const text = `Not saved: ${error instanceof Error ? error.message : String(error)}`;
      return { ...result, content: [...(Array.isArray(content) ? content : []), { type: "text", text }] };
    }
  };
}

function urlsOf({ results }: JsonObject): string[] {
  if (!Array.isArray(results)) return [];
  return results.flatMap((each) => (isJsonObject(each) && typeof each.url === "string" ? [each.url] : []));
}

function withPaths({ results }: JsonObject, files: readonly SavedFile[]): JsonObject[] {
  return (results as readonly JsonObject[]).map((each) => {
    const path = files.find(({ url }) => url === each.url)?.path;
    return { ...each, ...(path !== undefined && { saved_to: path }) };
  });
}
