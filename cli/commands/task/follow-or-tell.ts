import type { Command } from "commander";
import type { Kind } from "../../client/answer.ts";
import { createdJson } from "../../client/create-task.ts";
import { follow } from "../../client/follow.ts";
import type { Remote } from "../../client/remote.ts";
import type { Saving } from "../../client/saved.ts";
import type { Context } from "../../context.ts";
import { addSaveFlags } from "../../flags/save.ts";
import type { Output } from "../../format/output.ts";

/** Flags of a command that makes a task and may wait for its end. */
export function addFollowFlags(command: Command): void {
  command
    .option("-w, --wait", "wait for the end of the task")
    .option("--timeout <duration>", "how long to wait", "10m");
  addSaveFlags(command, "wait, and save the results: file, folder or - for standard output");
}

interface Made {
  readonly created: Parameters<typeof createdJson>[0];
  readonly kind: Kind;
  readonly model: string | undefined;
  readonly isAwaited: boolean;
  readonly timeoutMs: number;
  readonly saving: Saving | undefined;
  /** The flags that say where the task is. */
  readonly where: string;
}

/** Waits for a task that was made, where that is asked for, and otherwise tells its id. */
export async function followOrTell(
  remote: Remote,
  context: Context,
  output: Output,
  { created, kind, model, isAwaited, timeoutMs, saving, where }: Made,
): Promise<void> {
  const id = created.taskId;
  if (isAwaited || saving !== undefined) {
    await follow(remote, context, output, { kind, id, timeoutMs, saving });
    return;
  }
  output.done(`Accepted${created.replayed ? " before" : ""}. Wait for it: svc task wait ${id}${where}`);
  output.show(createdJson(created, { kind, model }), () => `${id}\n`);
}
