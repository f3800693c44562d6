import type { Command } from "commander";
import { placeAgain } from "../../again.ts";
import { type CreateFlags, createTask } from "../../client/create-task.ts";
import { modelOf } from "../../client/model.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../../client/remote.ts";
import { checkTarget } from "../../client/target.ts";
import { onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { requestProblem } from "../../flags/check-request.ts";
import { addRequestFlags, type RequestFlags, readRequest } from "../../flags/request.ts";
import { type SaveFlags, savingFor } from "../../flags/save.ts";
import { parseDuration } from "../../format/units.ts";
import { withExamples, withExits } from "../../help/manual.ts";
import { addFollowFlags, followOrTell } from "./follow-or-tell.ts";

interface SubmitFlags extends RemoteFlags, RequestFlags, SaveFlags, CreateFlags {
  readonly wait?: boolean;
  readonly timeout: string;
}

export function addSubmit(task: Command, context: Context): void {
  const description = "create an image or video task; the model decides the kind";
  const command = addRequestFlags(addRemoteCommand(task, "submit", description), "one of `svc models list`")
    .option("--callback-url <url>", "URL that receives a POST when the task ends")
    .option(
      "--idempotency-key <key>",
      "makes repeating this request safe: one key creates one task (default random)",
    );
  addFollowFlags(command);
  withExamples(
    command,
    'svc task submit -m sandbox-image -p "a lighthouse at dusk" -o lighthouse.png',
    'svc task submit -m sandbox-video -p "waves" -i duration=5 --wait',
    'svc task submit -m sandbox-image -p "in blue" -i image_url=@photo.jpg --json',
  );
  withExits(command, "quota", "taskFailed", "taskCancelled");
  onRun<SubmitFlags>(command, context, async ({ options, output }) => {
    const timeoutMs = parseDuration(options.timeout);
    const request = await readRequest(options, context);
    const { model: id } = request;
    if (id === undefined) throw usage("Give a model with -m, --model.", "`svc models list` lists them.");
    const saving = savingFor(options, context, output);
    checkTarget(saving?.target, request.count);
    const remote = connect(options, context, output);
    const model = modelOf(await remote.client.model(id), id);
    const { kind } = model;
    const body = await request.bodyFor(model);
    const problem = requestProblem(model, body, request.nameOf);
    if (problem !== undefined) throw problem;
    const created = await createTask(options, context, (key) => remote.client.create(kind, body, key));
    await followOrTell(remote, context, output, {
      created,
      kind,
      model: id,
      isAwaited: options.wait === true,
      timeoutMs,
      saving,
      where: placeAgain(command),
    });
  });
}
