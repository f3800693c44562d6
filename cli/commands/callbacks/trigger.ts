import { Argument, type Command } from "commander";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import type { Kind, TaskView } from "../../client/answer.ts";
import { addRemoteCommand, connect, type Remote, type RemoteFlags } from "../../client/remote.ts";
import { backoffMs } from "../../client/retry.ts";
import { awaitTask, hasEnded, verdictOf } from "../../client/wait.ts";
import { given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../../failure.ts";
import {
  type CallbackView,
  historyOf,
  sendSummary,
  showCallback,
  urlWithoutQuery,
} from "../../format/callback-view.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { formatDuration } from "../../format/units.ts";
import { withExamples, withNotes } from "../../help/manual.ts";

const DEFAULT_MODEL = "sandbox-image";
/** Time limits: for the task to end, then for an answer to its callback. */
const TIMEOUT_MS = 60_000;

interface TriggerFlags extends RemoteFlags {
  readonly url?: string;
  readonly model: string;
}

export function addTrigger(callbacks: Command, context: Context): void {
  const description = "end a sandbox task at once, to get a callback";
  const command = addRemoteCommand(callbacks, "trigger", description)
    .addArgument(new Argument("<outcome>", "how the task ends").choices(["completed", "failed"]))
    .option("--url <url>", "the task's callback_url; waits for its answer and shows it")
    .option("-m, --model <model>", "a sandbox model", DEFAULT_MODEL);
  withExamples(
    command,
    ["svc callbacks trigger completed", "while `svc callbacks listen` runs"],
    ["svc callbacks trigger failed --url https://hooks.example/svc", "show how the receiver answered"],
  );
  withNotes(command, "It is a real sandbox task with a real result, charged at its model's price.");
  onRun<TriggerFlags>(command, context, async ({ args, options, output }) => {
    const outcome = given(args, 0);
    const remote = connect(options, context, output);
    const kind = await sandboxKind(remote, options.model);
    const task = await runTask(remote, kind, {
      model: options.model,
      prompt: `svc callbacks trigger ${outcome}`,
      sandbox: { delay_ms: 0, outcome },
      ...(options.url === undefined ? {} : { callback_url: options.url }),
    });
    const { task_id: id, status } = task;
    if (status !== outcome) {
      const unasked = unexpectedAnswer(`${id} is ${printable(status)}, not as it was asked to end.`);
      throw verdictOf(task, TIMEOUT_MS) ?? unasked;
    }
    output.done(`${id} ${status}.`);
    if (options.url !== undefined) {
      await showDelivery(output, await awaitSend(remote, id));
      return;
    }
    output.say("A running `svc callbacks listen` receives its callback.");
    output.show(task, () => `${id}\n`);
  });
}

/** @throws Failure for a model outside the sandbox: its provider would run and charge the task */
async function sandboxKind({ client }: Remote, model: string): Promise<Kind> {
  const { kind, schema } = await client.model(model).catch((error: unknown) => {
    throw error instanceof Failure && error.exitCode === EXIT.notFound ? noSandbox(model, error) : error;
  });
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  if ((kind === "image" || kind === "video") && properties.sandbox !== undefined) return kind;
  throw new Failure(EXIT.usage, "no_sandbox_model", `${printable(model)} is no sandbox model.`, {
    hint: `Without --model it is ${DEFAULT_MODEL}.`,
  });
}

function noSandbox(model: string, error: Failure): Failure {
  if (model !== DEFAULT_MODEL) return error;
  return new Failure(error.exitCode, error.code, "There is no sandbox for this key on this server.", {
    hint: "The server runs with --no-sandbox, or the key may not use sandbox-image. Any task's end makes a callback.",
    requestId: error.requestId,
    more: error.more,
  });
}

async function runTask({ client, timing, signal }: Remote, kind: Kind, body: JsonObject): Promise<TaskView> {
  const { taskId: id } = await client.create(kind, body, crypto.randomUUID()).catch((error: unknown) => {
    throw error instanceof Failure ? withListenHint(error) : error;
  });
  const task = await awaitTask(client, { kind, id, timeoutMs: TIMEOUT_MS, timing, signal });
  if (!hasEnded(task)) throw verdictOf(task, TIMEOUT_MS);
  return task;
}

/** Explains that the server may not call an address of the user's own machine. */
function withListenHint(error: Failure): Failure {
  if (error.exitCode !== EXIT.rejected || error.more?.param !== "callback_url") return error;
  return error.withHint(
    "For an address of your own machine: `svc callbacks listen --forward URL`, and trigger without --url.",
  );
}

/** Waits for the first answer to the task's callback. */
async function awaitSend({ client, timing, signal }: Remote, taskId: string): Promise<CallbackView> {
  const endsAt = timing.now() + TIMEOUT_MS;
  for (let tries = 1; ; tries++) {
    const [found] = (await client.callbacks({ task_id: taskId, limit: "1" })).callbacks;
    if (found !== undefined) {
      const callback = await client.callback(found.id);
      if (callback.state !== "pending" || lastSend(callback) !== undefined) return callback;
    }
    if (timing.now() >= endsAt) {
      const message = `No send of the callback of ${taskId} has ended within ${formatDuration(TIMEOUT_MS)}.`;
      const hint = `\`svc callbacks show ${taskId}\` tells how it goes on.`;
      throw new Failure(EXIT.stillRunning, "still_running", message, { hint });
    }
    await timing.sleep(backoffMs(Math.min(tries, 3), timing.random()), signal);
  }
}

function lastSend(callback: CallbackView): JsonObject | undefined {
  return historyOf(callback).findLast(({ outcome }) => typeof outcome === "string");
}

/** @throws Failure unless it was acknowledged, after it was printed */
async function showDelivery(output: Output, callback: CallbackView): Promise<void> {
  await showCallback(callback, output);
  if (callback.state === "delivered") return;
  const url = printable(urlWithoutQuery(String(callback.url ?? "The receiver")));
  const reason = sendSummary(lastSend(callback) ?? {});
  const next = callback.state === "pending" ? "It is tried again. " : "";
  throw new Failure(EXIT.error, "callback_not_acknowledged", `${url} did not acknowledge: ${reason}.`, {
    hint: `${next}\`svc callbacks show ${callback.id}\` tells how it goes on.`,
    more: { callback_id: callback.id, task_id: callback.task_id },
  });
}
