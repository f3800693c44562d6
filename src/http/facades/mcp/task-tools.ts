import { isJsonObject } from "../../../domain/json.ts";
import { cancelTask } from "../../../service/cancel-task.ts";
import { readTask } from "../../../service/read-task.ts";
import { isWaiting, neededTextOf, waitMsOf } from "./arguments.ts";
import type { McpDeps } from "./deps.ts";
import { followTask } from "./follow.ts";
import { taskResult } from "./result.ts";
import { TASK_ID_INPUT, TASK_OUTPUT, WAIT } from "./schemas.ts";
import { READS, type ToolKind } from "./tool.ts";

export const GET_TASK: ToolKind<McpDeps> = {
  name: "get_task",
  mayWait: (args) => isJsonObject(args) && isWaiting(args, 0),
  offer: () => ({
    name: "get_task",
    title: "Read a task",
    description:
      "Reads a task, and gives its results once it is completed. With `wait`, waits for its end first. Costs nothing.",
    inputSchema: {
      type: "object",
      required: ["task_id"],
      properties: { task_id: TASK_ID_INPUT, wait: { ...WAIT, default: 0 } },
    },
    outputSchema: TASK_OUTPUT,
    hints: READS,
  }),
  async run(deps, call) {
    const { exchange, args } = call;
    const waitMs = waitMsOf(args, 0);
    const { id } = await readTask(deps, exchange.principal, neededTextOf(args, "task_id"));
    const leave = waitMs > 0 ? exchange.stay("waits") : () => {};
    try {
      const task = await followTask(deps, call, { id, waitMs, isOwn: false });
      return await taskResult(deps, exchange, task);
    } finally {
      leave();
    }
  },
};

export const CANCEL_TASK: ToolKind<McpDeps> = {
  name: "cancel_task",
  mayWait: () => false,
  offer: () => ({
    name: "cancel_task",
    title: "Cancel a task",
    description:
      "Stops a task that has not ended. One that has not begun ends at once and costs nothing; for one under way its provider is asked.",
    inputSchema: { type: "object", required: ["task_id"], properties: { task_id: TASK_ID_INPUT } },
    outputSchema: TASK_OUTPUT,
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  }),
  async run(deps, { exchange, args }) {
    const task = await cancelTask(deps, exchange.principal, neededTextOf(args, "task_id"));
    return taskResult(deps, exchange, task);
  },
};
