import { type Command, Option } from "commander";
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { GROUP_POLICIES } from "../../../src/domain/task/group-terms.ts";
import { placeAgain } from "../../again.ts";
import { type CreateFlags, createTask } from "../../client/create-task.ts";
import { modelOf } from "../../client/model.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../../client/remote.ts";
import { collect, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { unexpectedAnswer, usage } from "../../failure.ts";
import { parseInput, parseJson, readInputs } from "../../flags/inputs.ts";
import { fileReader, type RequestFlags, readRequest } from "../../flags/request.ts";
import { readDuration } from "../../flags/values.ts";
import { parseDuration } from "../../format/units.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { followGroup } from "./follow.ts";

interface GroupFlags extends Pick<RequestFlags, "prompt" | "input" | "callbackUrl"> {
  readonly model?: readonly string[];
  readonly grid?: readonly string[];
  readonly requests?: string;
  readonly policy?: string;
  readonly budget?: string;
  readonly deadline?: string;
}

export function addCreate(group: Command, context: Context): void {
  const command = addRemoteCommand(group, "create [prompt]", "make a task for each model and combination")
    .option("-m, --model <model>", "a model of `svc models list`; repeatable", collect)
    .option("-p, --prompt <text>", "what to make; @FILE reads it from a file, - from standard input")
    .option("-i, --input <name=value>", "another field, the same for all; repeatable", collect)
    .option(
      "-g, --grid <name=values>",
      "a field with several values, as a,b or :=[json]; repeatable",
      collect,
    )
    .option("--requests <file>", "a JSON list of whole requests to make beside; - is standard input")
    .addOption(
      new Option("--policy <policy>", "what wins, and whether the first result ends the others").choices(
        GROUP_POLICIES,
      ),
    )
    .option("--budget <amount>", "the most that all tasks together may hold, such as 0.50")
    .option("--deadline <duration>", "cancel what has not ended after so long, such as 90s")
    .option("--callback-url <url>", "URL that receives one POST when all have ended")
    .option(
      "--idempotency-key <key>",
      "makes repeating this request safe: one key creates one group (default random)",
    )
    .option("-w, --wait", "wait until all have ended")
    .option("--timeout <duration>", "how long to wait", "10m");
  withExamples(
    command,
    'svc group create "a fox" -m sandbox-image -g seed=1,2 --budget 0.10 --wait',
    ['svc group create "a fox" -m sandbox-image -m sandbox-video --policy first', "the first to complete"],
    "svc group create --requests models.json --json",
  );
  withNotes(
    command,
    "Inputs and values of a grid are typed by the schema of the first model. All tasks are made or none.",
  );
  withExits(command, "quota", "taskFailed", "taskCancelled");
  type Flags = RemoteFlags & GroupFlags & CreateFlags & { wait?: boolean; timeout: string };
  onRun<Flags>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const timeoutMs = parseDuration(options.timeout);
    const remote = connect(options, context, output);
    const [words] = args;
    const body = await bodyOf(options, context, {
      words: typeof words === "string" ? words : undefined,
      schemaOf: async (id) => modelOf(await remote.client.model(id), id).schema,
    });
    const made = await createTask(options, context, (key) => remote.client.createGroup(body, key));
    const { group_id: id } = made.data;
    if (typeof id !== "string") throw unexpectedAnswer("The server made a group without an id.");
    if (options.wait === true) {
      await followGroup(invocation, { remote, id, timeoutMs });
      return;
    }
    output.done(`Accepted. Watch it: svc group watch ${id}${placeAgain(command)}`);
    const cost = made.headers.get("x-request-cost");
    const replayed = made.headers.get("x-idempotent-replay") === "true";
    const told = { ...made.data, cost, replayed, idempotency_key: made.idempotencyKey };
    output.show(told, () => `${id}\n`);
  });
}

interface Asked {
  readonly words: string | undefined;
  readonly schemaOf: (model: string) => Promise<unknown>;
}

/** The body of the create. @throws Failure (exit 2) for what cannot be read, and where nothing is asked for */
async function bodyOf(flags: GroupFlags, context: Context, { words, schemaOf }: Asked): Promise<JsonObject> {
  const { model: models = [], grid = [], requests, policy, budget, deadline, callbackUrl } = flags;
  const [first] = models;
  if (first === undefined && requests === undefined)
    throw usage(
      "Give a model with -m, --model, or a file with --requests.",
      "`svc models list` lists models.",
    );
  const asked = await readRequest(
    { prompt: flags.prompt, input: flags.input } as RequestFlags,
    context,
    words,
  );
  const schema = first === undefined ? undefined : await schemaOf(first);
  const { model: _, prompt, ...parameters } = await asked.bodyFor({ id: first ?? "", schema });
  const axes = await readGrid(grid, schema, context);
  return {
    ...(models.length > 0 && { models }),
    ...(prompt !== undefined && { prompt }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(Object.keys(axes).length > 0 && { grid: axes }),
    ...(requests !== undefined && { requests: await readRequests(requests, context) }),
    ...(policy !== undefined && { policy }),
    ...(budget !== undefined && { budget }),
    ...(deadline !== undefined && {
      deadline_seconds: Math.ceil(readDuration("--deadline", deadline) / 1000),
    }),
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
  };
}

async function readGrid(texts: readonly string[], schema: unknown, context: Context): Promise<JsonObject> {
  const axes: Record<string, Json> = {};
  for (const text of texts) {
    const { name, form, value } = parseInput(text);
    if (form === "file") throw usage(`--grid ${name} takes values, and no file.`);
    if (axes[name] !== undefined)
      throw usage(`--grid ${name} is given twice; give all of its values at once.`);
    if (form === "json") {
      const list = parseJson(name, value);
      if (!Array.isArray(list)) throw usage(`--grid ${name} must be a JSON list, such as ${name}:=[1, 2].`);
      axes[name] = list;
      continue;
    }
    const each = value.split(",").map((part) => ({ name, form: "text", value: part }) as const);
    const read = await Promise.all(each.map((input) => readInputs([input], schema, fileReader(context))));
    axes[name] = read.map((body) => body[name] ?? null);
  }
  return axes;
}

async function readRequests(path: string, context: Context): Promise<Json> {
  const text = new TextDecoder().decode(await fileReader(context)(path));
  const requests = parseJson("--requests", text);
  if (Array.isArray(requests) && requests.every(isJsonObject)) return requests;
  throw usage(`--requests ${path} must be a JSON list of requests, such as [{"model": "a", "prompt": "b"}].`);
}
