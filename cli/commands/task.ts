import type { Command } from "commander";
import { addGroup, CLIENT_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { addTaskCancel } from "./task/cancel.ts";
import { addTaskDownload } from "./task/download.ts";
import { addTaskGet } from "./task/get.ts";
import { addTaskList } from "./task/list.ts";
import { addTaskSubmit } from "./task/submit.ts";
import { addTaskWait } from "./task/wait.ts";

export function addTask(program: Command, context: Context): void {
  const task = addGroup(program, "task", CLIENT_COMMANDS, "generate, and follow what was asked for").alias(
    "tasks",
  );
  addTaskSubmit(task, context);
  addTaskGet(task, context);
  addTaskWait(task, context);
  addTaskList(task, context);
  addTaskCancel(task, context);
  addTaskDownload(task, context);
}
