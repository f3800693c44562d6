import type { Command } from "commander";
import type { JsonObject } from "../../../src/domain/json.ts";
import { createAdminCalls, segment } from "../../client/admin.ts";
import { createClient } from "../../client/client.ts";
import { clientOptions } from "../../client/remote.ts";
import { given, type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { Failure } from "../../failure.ts";
import { renderFields } from "../../format/table.ts";
import { traceFields } from "../../format/trace-view.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { readLocalConfig } from "../../local.ts";
import { addCallerCommand, type Caller, type CallerFlags, findCaller } from "../../manage/caller.ts";
import { folderAtHand } from "../../manage/place.ts";

interface TraceFlags extends CallerFlags {
  readonly allAccounts?: boolean;
}

export function addTrace(task: Command, context: Context): void {
  const description = "show where a task went and why, and what took how long";
  const command = addCallerCommand(task, "trace <task>", description).option(
    "--all-accounts",
    "a task of any account, with a management token",
  );
  withExamples(
    command,
    "svc task trace task_01m7…",
    ["svc task trace task_01m7… --local", "beside the data folder"],
    ["svc task trace task_01m7… --json | jq .attempts", "with what each was chosen among"],
  );
  withNotes(
    command,
    "An API key shows the stages of a task of its account and the phases of its attempts. Operators also see the ways that each attempt was chosen among, the provider and account that had it, what went wrong and what it cost: with a management token (beside a key, --all-accounts says so), or with --local or --data-dir in a data folder, which is also read where no credential is at hand.",
  );
  onRun<TraceFlags>(command, context, async (invocation) => {
    const trace = await readTrace(invocation, given(invocation.args, 0));
    const { output } = invocation;
    output.show(trace, () => renderFields(traceFields(trace), output));
  });
}

async function readTrace(
  { options: flags, context, output }: Invocation<TraceFlags>,
  id: string,
): Promise<JsonObject> {
  const caller = callerOf(flags, context);
  if (caller.kind === "folder") return readInFolder(flags, context, id);
  const options = clientOptions(flags, context, output);
  if (caller.kind === "key") return createClient(caller.settings, options).trace(id);
  return createAdminCalls(caller.settings, options).get(`/tasks/${segment(id)}/trace`);
}

async function readInFolder(flags: TraceFlags, context: Context, id: string): Promise<JsonObject> {
  // Loaded late: it imports the whole service.
  const { openLocal } = await import("../../../src/app/local.ts");
  const local = await openLocal(readLocalConfig(flags, context));
  try {
    return await local.trace(id);
  } finally {
    await local.stop();
  }
}

/** Whoever has no credential, but a data folder here, reads that. */
function callerOf(flags: TraceFlags, context: Context): Caller {
  try {
    return findCaller(flags, context, flags.allAccounts === true);
  } catch (error) {
    const isFolder = error instanceof Failure && error.code === "no_api_key" && flags.server === undefined;
    if (isFolder && folderAtHand(context) !== undefined) return { kind: "folder" };
    throw error;
  }
}
