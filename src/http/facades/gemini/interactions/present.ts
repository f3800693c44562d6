import type { JsonObject } from "../../../../domain/json.ts";
import { MEDIA_TYPES } from "../../../../domain/media/asset.ts";
import { isTerminal, type TaskSummary } from "../../../../domain/task/task.ts";
import { describe } from "../../../../domain/words/words.ts";
import { base64Pieces } from "../../../pieces.ts";
import type { MadePicture } from "../candidates.ts";
import { V1BETA } from "../manners.ts";
import { fileNameOf } from "../own-files.ts";

/** A program polls while it reads `in_progress`, so that a task that waits is that, too. */
const STATUSES = {
  pending: "in_progress",
  processing: "in_progress",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<TaskSummary["status"], string>;

export const OBJECT = "interaction";

/** A task as an interaction, without what it made. @param isStored whether it has an id once it has ended */
export function presentHead(task: TaskSummary, isStored: boolean): JsonObject {
  const { id, model, status, createdAt, completedAt } = task;
  const errors = errorsOf(task);
  return {
    ...((isStored || !isTerminal(status)) && { id }),
    ...{ object: OBJECT, model, status: STATUSES[status] },
    created: new Date(createdAt).toISOString(),
    updated: new Date(completedAt ?? createdAt).toISOString(),
    ...(errors.length > 0 && { errors }),
    ...(isTerminal(status) && { usage: usageOf(task) }),
  };
}

/** Why there is nothing, or less than was asked for. */
export function errorsOf({ id, status, error, resultIssues = [] }: TaskSummary): JsonObject[] {
  const failure = error === undefined ? [] : [{ code: error.code, message: error.message }];
  const withheld = resultIssues.map(({ code, message }) => ({ code, message }));
  if (status !== "cancelled") return [...failure, ...withheld];
  const message = describe({ kind: "task_cancelled", task: id }, (field) => field);
  return [{ code: "CANCELLED", message }];
}

/** Zero where the upstream reports none. */
function usageOf({ usage }: TaskSummary): JsonObject {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    total_input_tokens: inputTokens,
    total_output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** A file that was made: where it is, its content, or both. */
export interface MadeFile {
  readonly type: TaskSummary["results"][number]["type"];
  readonly uri?: string | undefined;
  readonly content?: Blob | undefined;
}

export const inline = ({ asset, content }: MadePicture): MadeFile => ({ type: asset.type, content });

/** @param origin at which the caller reaches this service */
export const addressed = (
  origin: string,
  { assetId, type }: TaskSummary["results"][number],
  content?: Blob,
): MadeFile => ({
  ...{ type, content },
  uri: `${origin}${V1BETA}/files/${fileNameOf(assetId)}:download?alt=media`,
});

/** A file as content of a step, piece by piece. */
export async function* contentPieces({ type, uri, content }: MadeFile): AsyncGenerator<string> {
  const told = { type: MEDIA_TYPES[type].kind, mime_type: type, ...(uri !== undefined && { uri }) };
  const text = JSON.stringify(told);
  if (content === undefined) {
    yield text;
    return;
  }
  yield `${text.slice(0, -1)},"data":"`;
  yield* base64Pieces(content);
  yield '"}';
}

/** A task as an interaction with what it made, piece by piece. */
export async function* interactionPieces(
  task: TaskSummary,
  files: readonly MadeFile[],
  isStored: boolean,
): AsyncGenerator<string> {
  const head = JSON.stringify(presentHead(task, isStored)).slice(0, -1);
  if (files.length === 0) {
    yield `${head},"steps":[]}`;
    return;
  }
  let before = `${head},"steps":[{"type":"model_output","content":[`;
  for (const file of files) {
    yield before;
    yield* contentPieces(file);
    before = ",";
  }
  yield "]}]}";
}
