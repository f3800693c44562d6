import type { Command } from "commander";
import type { JsonObject } from "../../../src/domain/json.ts";
import { placeAgain } from "../../again.ts";
import { type Client, createdOf } from "../../client/client.ts";
import { type CreateFlags, createTask } from "../../client/create-task.ts";
import { textOf } from "../../client/lenient.ts";
import { listPages, type PageFlags, withPageFlags } from "../../client/pages.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../../client/remote.ts";
import { checkTarget } from "../../client/target.ts";
import { collect, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { parseInput, readInputs } from "../../flags/inputs.ts";
import { fileReader } from "../../flags/request.ts";
import { type SaveFlags, savingFor } from "../../flags/save.ts";
import { readCount, unreadable } from "../../flags/values.ts";
import { column } from "../../format/table.ts";
import { formatTime, parseDuration } from "../../format/units.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { addFollowFlags, followOrTell } from "./follow-or-tell.ts";

const KEY_FLAG = [
  "--idempotency-key <key>",
  "makes repeating this request safe: one key creates each task once (default random)",
] as const;

export function addVariations(task: Command, context: Context): void {
  const command = addRemoteCommand(task, "variations <task>", "make tasks like another one with other seeds")
    .option("-n, --count <count>", "how many, 1 to 10", "1")
    .option(...KEY_FLAG);
  withExamples(command, "svc task variations task_01m7…", "svc task variations task_01m7… -n 4");
  withExits(command, "quota");
  type Flags = RemoteFlags & CreateFlags & { count: string };
  onRun<Flags>(command, context, async ({ args, options, output }) => {
    const count = readCount("--count", options.count, 2);
    const { client } = connect(options, context, output);
    const { idempotencyKey, ...made } = await createTask<JsonObject>(options, context, (key) =>
      client.vary(given(args, 0), count, key),
    );
    const ids = Array.isArray(made.task_ids) ? made.task_ids.map(String) : [];
    const refused = made.refused as JsonObject | null;
    if (refused !== null)
      output.say(
        `${refused.count} more were refused: ${refused.message} Repeat with --idempotency-key ${idempotencyKey} to make those alone.`,
      );
    output.show({ ...made, idempotency_key: idempotencyKey }, () => ids.map((id) => `${id}\n`).join(""));
  });
}

export function addExtend(task: Command, context: Context): void {
  const command = addFollowUp(task, context, "extend", "make a video go on where it ends");
  withExamples(
    command,
    "svc task extend task_01m7… -o longer.mp4",
    "svc task extend task_01m7… -m sandbox-video-edit -i duration=4",
  );
}

export function addUpscale(task: Command, context: Context): void {
  const command = addFollowUp(task, context, "upscale", "make a result of a task larger");
  withExamples(
    command,
    "svc task upscale task_01m7… -o large.png",
    "svc task upscale task_01m7… -m sandbox-upscale -i factor=4",
  );
}

type FollowUpFlags = RemoteFlags &
  SaveFlags &
  CreateFlags & { model?: string; input?: readonly string[]; index: string; wait?: boolean; timeout: string };

interface Made {
  readonly verb: "extend" | "upscale";
  readonly kind: string;
  /** The model that made the task. */
  readonly own: string;
  readonly named: string | undefined;
}

/** What inputs are typed by: the schema of the named model, else those of the models that the server may choose. */
async function schemaOf(client: Client, { verb, kind, own, named }: Made): Promise<JsonObject> {
  const read = async (id: string) => (await client.anyModel(id)).schema as JsonObject;
  if (named !== undefined) return read(named);
  const able = (await client.allModels()).filter(
    ({ kind: makes, available, follow_ups }) =>
      makes === kind && available === true && Array.isArray(follow_ups) && follow_ups.includes(verb),
  );
  const ids = able.map(({ id }) => String(id));
  if (ids.length === 0 || ids.includes(own)) return read(own);
  const schemas = await Promise.all(ids.map(read));
  const properties = Object.assign({}, ...schemas.map((schema) => schema.properties));
  return { ...Object.assign({}, ...schemas), properties };
}

function addFollowUp(task: Command, context: Context, verb: "extend" | "upscale", about: string): Command {
  const command = addRemoteCommand(task, `${verb} <task>`, about)
    .option(
      "-m, --model <model>",
      "the model, one that lists this under follow_ups (default: the task's own)",
    )
    .option("-i, --input <name=value>", "another field of the model; repeatable", collect)
    .option("--index <number>", "which result of the task, from 0", "0")
    .option(...KEY_FLAG);
  addFollowFlags(command);
  withNotes(
    command,
    "Inputs are typed by the schemas of the models that may be taken; name:=json gives exactly this JSON.",
  );
  withExits(command, "quota", "taskFailed", "taskCancelled");
  onRun<FollowUpFlags>(command, context, async ({ args, options, output }) => {
    const before = given(args, 0);
    const timeoutMs = parseDuration(options.timeout);
    const saving = savingFor(options, context, output);
    checkTarget(saving?.target, 1);
    const inputs = (options.input ?? []).map(parseInput);
    if (!/^\d{1,4}$/.test(options.index)) throw unreadable("--index", "a whole number from 0", options.index);
    const index = Number(options.index);
    const remote = connect(options, context, output);
    const { kind, task: made } = await remote.client.find(before);
    const from = { verb, kind, own: String(made.model), named: options.model };
    const schema = inputs.length === 0 ? {} : await schemaOf(remote.client, from);
    const fields = await readInputs(inputs, schema, fileReader(context));
    const body = { ...fields, index, ...(options.model !== undefined && { model: options.model }) };
    let model: string | undefined;
    const created = await createTask(options, context, async (key) => {
      const answer = await remote.client.followUp(before, verb, body, key);
      model = typeof answer.data.model === "string" ? answer.data.model : undefined;
      return createdOf(answer);
    });
    const [isAwaited, where] = [options.wait === true, placeAgain(command)];
    await followOrTell(remote, context, output, {
      created,
      kind,
      model,
      isAwaited,
      timeoutMs,
      saving,
      where,
    });
  });
  return command;
}

const COLUMNS = [
  ...[column.id("TASK"), column.id("FROM", 1), column.word("BY", 2), column.word("STATUS")],
  ...[column.id("MODEL", 3), column.word("CREATED", 4)],
];

export function addTree(task: Command, context: Context): void {
  const command = addRemoteCommand(
    task,
    "tree <task>",
    "list a task's family: what it and others were made from",
  );
  withPageFlags(command, "tasks");
  withExamples(command, "svc task tree task_01m7…", [
    "svc task tree task_01m7… --all --json",
    "a task a line",
  ]);
  onRun<RemoteFlags & PageFlags>(command, context, async (invocation) => {
    const id = given(invocation.args, 0);
    const { client } = connect(invocation.options, context, invocation.output);
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      async read(page) {
        const { items, next } = await client.tree(id, page);
        return { tasks: items, next };
      },
      itemsOf: (page) => page.tasks,
      rowOf: (each) => [
        ...[textOf(each.task_id), textOf(each.parent_id), textOf(each.relation)],
        each.deleted === true ? "deleted" : textOf(each.status),
        textOf(each.model),
        typeof each.created_at === "number" ? formatTime(each.created_at * 1000) : "",
      ],
      none: "No tasks.",
    });
  });
}
