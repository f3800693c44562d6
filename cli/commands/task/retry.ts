import type { Command } from "commander";
import { placeAgain } from "../../again.ts";
import { type CreateFlags, createTask } from "../../client/create-task.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../../client/remote.ts";
import { checkTarget } from "../../client/target.ts";
import { given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { type SaveFlags, savingFor } from "../../flags/save.ts";
import { parseDuration } from "../../format/units.ts";
import { withExamples, withExits } from "../../help/manual.ts";
import { addFollowFlags, followOrTell } from "./follow-or-tell.ts";

export function addRetry(task: Command, context: Context): void {
  const description = "make a task like one that has ended, at today's price";
  const command = addRemoteCommand(task, "retry <task>", description).option(
    "--idempotency-key <key>",
    "makes repeating this request safe: one key creates one task (default random)",
  );
  addFollowFlags(command);
  withExamples(command, "svc task retry task_01m7…", "svc task retry task_01m7… -o lighthouse.png");
  withExits(command, "quota", "taskFailed", "taskCancelled");
  type Flags = RemoteFlags & SaveFlags & CreateFlags & { wait?: boolean; timeout: string };
  onRun<Flags>(command, context, async ({ args, options, output }) => {
    const before = given(args, 0);
    const timeoutMs = parseDuration(options.timeout);
    const saving = savingFor(options, context, output);
    checkTarget(saving?.target, 1);
    const remote = connect(options, context, output);
    const { kind, task: ended } = await remote.client.find(before);
    const model = typeof ended.model === "string" ? ended.model : undefined;
    const created = await createTask(options, context, (key) => remote.client.retry(before, key));
    await followOrTell(remote, context, output, {
      created,
      kind,
      model,
      isAwaited: options.wait === true,
      timeoutMs,
      saving,
      where: placeAgain(command),
    });
  });
}
