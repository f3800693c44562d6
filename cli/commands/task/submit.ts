import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { JsonObject } from "../../../src/domain/json.ts";
import { reasonOf } from "../../../src/toolkit/system-error.ts";
import type { Kind } from "../../client/answer.ts";
import type { Created } from "../../client/client.ts";
import { follow } from "../../client/follow.ts";
import { addRemoteCommand, connect, type Remote, type RemoteFlags } from "../../client/remote.ts";
import { checkTarget } from "../../client/target.ts";
import { collect, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, unexpectedAnswer, usage } from "../../failure.ts";
import { parseInput, type ReadFile, readInputs } from "../../flags/inputs.ts";
import { addSaveFlags, type SaveFlags, savingFor } from "../../flags/save.ts";
import { parseDuration } from "../../format/units.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";

interface SubmitFlags extends RemoteFlags, SaveFlags {
  readonly model: string;
  readonly prompt?: string;
  readonly input?: readonly string[];
  readonly callbackUrl?: string;
  readonly idempotencyKey?: string;
  readonly wait?: boolean;
  readonly timeout: string;
}

export function addSubmit(task: Command, context: Context): void {
  const description = "create an image or video task; the model decides the kind";
  const command = addRemoteCommand(task, "submit", description)
    .requiredOption("-m, --model <model>", "one of `svc models list`")
    .option("-p, --prompt <text>", "what to make")
    .option("-i, --input <name=value>", "another field of the model; repeatable", collect)
    .option("--callback-url <url>", "URL that receives a POST when the task ends")
    .option(
      "--idempotency-key <key>",
      "makes repeating this request safe: one key creates one task (default random)",
    )
    .option("-w, --wait", "wait for the end of the task")
    .option("--timeout <duration>", "how long to wait", "10m");
  addSaveFlags(command, "wait, and save the results: file, folder or - for standard output");
  withExamples(
    command,
    'svc task submit -m sandbox-image -p "a lighthouse at dusk" -o lighthouse.png',
    'svc task submit -m sandbox-video -p "waves" -i duration=5 --wait',
    'svc task submit -m sandbox-image -p "in blue" -i image_url=@photo.jpg --json',
  );
  withNotes(
    command,
    "Inputs: -i name=value (typed by the model's schema), -i name=@file (an image or a video becomes a data URI, anything else its text; @- is standard input), -i name:=json (exactly this JSON).",
  );
  withExits(command, "quota", "taskFailed", "taskCancelled");
  onRun<SubmitFlags>(command, context, async ({ options, output }) => {
    const timeoutMs = parseDuration(options.timeout);
    const inputs = (options.input ?? []).map(parseInput);
    const saving = savingFor(options, context, output);
    const remote = connect(options, context, output);
    const { kind, schema } = await readModel(remote, options.model);
    const fields = await readInputs(inputs, schema, fileReader(context));
    const body = {
      model: options.model,
      ...(options.prompt === undefined ? {} : { prompt: options.prompt }),
      ...(options.callbackUrl === undefined ? {} : { callback_url: options.callbackUrl }),
      ...fields,
    };
    checkTarget(saving?.target, typeof fields.n === "number" ? fields.n : 1);
    const idempotencyKey = options.idempotencyKey ?? randomUUID();
    if (options.verbose === true) context.stderr.write(`Idempotency-Key: ${idempotencyKey}\n`);
    const created = await create(remote, kind, body, idempotencyKey);
    const id = created.taskId;
    if (options.wait === true || saving !== undefined) {
      await follow(remote, context, output, { kind, id, timeoutMs, saving });
      return;
    }
    output.done(`Accepted${created.replayed ? " before" : ""}. Wait for it: svc task wait ${id}`);
    output.show(createdJson(created, kind, options.model, idempotencyKey), () => `${id}\n`);
  });
}

async function readModel({ client }: Remote, id: string): Promise<{ kind: Kind; schema: unknown }> {
  const { kind, schema } = await client.model(id);
  if (kind === "image" || kind === "video") return { kind, schema };
  throw unexpectedAnswer(`The server does not say what kind of model ${id} is.`);
}

/** After these, the server may have the request or not. */
const UNDECIDED: readonly number[] = [EXIT.unreachable, EXIT.interrupted, EXIT.stillRunning];

/** Creates a task. Where the outcome is unknown, the failure names the idempotency key, which makes it safe to repeat. */
async function create({ client }: Remote, kind: Kind, body: JsonObject, key: string): Promise<Created> {
  return client.create(kind, body, key).catch((error: unknown) => {
    if (!(error instanceof Failure) || !UNDECIDED.includes(error.exitCode)) throw error;
    const hint = `The server may have accepted it. Repeat the command with --idempotency-key ${key}, and it runs only once.`;
    throw error.withHint(hint, { idempotency_key: key });
  });
}

function createdJson(created: Created, kind: Kind, model: string, idempotencyKey: string): JsonObject {
  return {
    task_id: created.taskId,
    kind,
    model,
    cost: created.cost,
    replayed: created.replayed,
    idempotency_key: idempotencyKey,
    request_id: created.requestId,
  };
}

function fileReader({ cwd }: Context): ReadFile {
  return async (path) => {
    try {
      return path === "-" ? await Bun.stdin.bytes() : await readFile(resolve(cwd, path));
    } catch (error) {
      throw usage(`Cannot read ${path}: ${reasonOf(error)}.`);
    }
  };
}
