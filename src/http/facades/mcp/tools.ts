import type { AppError } from "../../../domain/errors.ts";
import { ESTIMATE, LIST_MODELS } from "./catalogue-tools.ts";
import { CREATE_TOOLS } from "./create-tools.ts";
import type { McpDeps } from "./deps.ts";
import { CANCEL_TASK, GET_TASK } from "./task-tools.ts";
import type { ToolKind, ToolResult } from "./tool.ts";

/** Every tool, in the order they are listed. */
export const TOOLS: readonly ToolKind<McpDeps>[] = [
  LIST_MODELS,
  ESTIMATE,
  ...CREATE_TOOLS,
  GET_TASK,
  CANCEL_TASK,
];

/** What agents learn about this service when they connect. */
export const INSTRUCTIONS =
  "Generates and edits images and videos with models of many providers. Every generation is a task that costs money and is charged only if it delivers. Choose a model by list_models, and ask estimate before anything dear. A call that answers without a result gives a task_id: go on with get_task, never by calling again. After a lost connection, repeat a call only with the same idempotency_key.";

/** A refusal as a result, so that the agent reads what is allowed and can try again. */
export function refusalResult(error: AppError): ToolResult {
  const { code, message, param } = error;
  const { retryAfterSec, taskId } = error.details;
  const told = {
    code,
    message,
    ...(param !== undefined && { param }),
    ...(retryAfterSec !== undefined && { retry_after_seconds: retryAfterSec }),
    ...(taskId !== undefined && { task_id: taskId }),
  };
  return { content: [{ type: "text", text: JSON.stringify({ error: told }) }], isError: true };
}
