import type { Command } from "commander";
import { type Choice, chooseModel, type Wanted } from "../client/choose-model.ts";
import { type CreateFlags, createTask } from "../client/create-task.ts";
import { follow } from "../client/follow.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../client/remote.ts";
import { checkTarget } from "../client/target.ts";
import { onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { fileNameOf } from "../flags/file-name.ts";
import { placeImages, readImages } from "../flags/images.ts";
import {
  addRequestFlags,
  fileReader,
  type GivenRequest,
  type RequestFlags,
  readRequest,
} from "../flags/request.ts";
import { addSaveFlags, readSaving, type SaveFlags } from "../flags/save.ts";
import { costInWords, estimateText } from "../format/estimate-view.ts";
import type { Output, OutputFlags } from "../format/output.ts";
import { printable } from "../format/printable.ts";
import { parseDuration } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";

interface MakeFlags extends RemoteFlags, RequestFlags, SaveFlags, CreateFlags {
  readonly dryRun?: boolean;
  readonly timeout: string;
  readonly mask?: string;
}

const CHOOSING =
  "Without -m, the model is the cheapest for this very request among those that are available and take it. The sandbox's models, which are no AI, come last. The choice and its price are told before anything is sent; --dry-run tells no more than that.";

/** `svc image "a lighthouse at dusk"` */
export function defineImage(command: Command, context: Context): void {
  withMakeFlags(command);
  withExamples(
    command,
    'svc image "a lighthouse at dusk"',
    'svc image "a lighthouse" -m sandbox-image -i aspect_ratio=16:9 -o dusk.png',
    ["svc image -p @prompt.txt -n 4 -o pictures/", "a long prompt, and four of it"],
  );
  const wanted: Wanted = { kind: "image", mode: "text-to-image", does: "makes images from text" };
  onMake(command, context, wanted);
}

/** `svc video "waves at dusk"` */
export function defineVideo(command: Command, context: Context): void {
  withMakeFlags(command);
  withExamples(
    command,
    'svc video "waves at dusk"',
    'svc video "waves at dusk" -m sandbox-video -i duration=5 -o waves.mp4 --open',
  );
  const wanted: Wanted = { kind: "video", mode: "text-to-video", does: "makes videos from text" };
  onMake(command, context, wanted);
}

/** `svc edit photo.png "make it winter"` */
export function defineEdit(command: Command, context: Context): void {
  withMakeFlags(command).option(
    "--mask <file>",
    "a PNG whose transparent areas say where the first image changes",
  );
  withExamples(
    command,
    'svc edit photo.png "make it winter"',
    'svc edit photo.png logo.png "put the logo on the wall" -o wall.png',
    'svc edit photo.png "a red door" --mask door.png --dry-run',
  );
  onRun<MakeFlags>(command, context, async ({ options, output }) => {
    const { paths, words } = splitArguments(command.args, options);
    const read = fileReader(context);
    const [images, masks] = await Promise.all([
      readImages(paths, read),
      readImages(options.mask === undefined ? [] : [options.mask], read),
    ]);
    const hasMask = masks.length > 0;
    const wanted: Wanted = {
      kind: "image",
      mode: hasMask ? "image-to-image-with-mask" : "image-to-image",
      does: `edits images${hasMask ? " within a mask" : ""}`,
      fieldsFor: (model) => placeImages(model, images, masks[0]),
    };
    await make(await readRequest(options, context, words), wanted, { context, options, output });
  });
}

function withMakeFlags(command: Command): Command {
  withRemoteFlags(command);
  addRequestFlags(command, "one of `svc models list` (default the cheapest)");
  addSaveFlags(command, "file, folder or - for standard output (default named by the prompt)");
  command
    .option("--dry-run", "tell the model and what it would cost, and make nothing")
    .option("--timeout <duration>", "how long to wait", "10m")
    .option("--callback-url <url>", "URL that receives a POST when the task ends")
    .option("--idempotency-key <key>", "makes repeating the command safe: one key makes one task");
  withNotes(command, CHOOSING);
  return withExits(command, "quota", "taskFailed", "taskCancelled");
}

function onMake(command: Command, context: Context, wanted: Wanted): void {
  onRun<MakeFlags>(command, context, async ({ args, options, output }) => {
    await make(await readRequest(options, context, args[0]), wanted, { context, options, output });
  });
}

interface Making {
  readonly context: Context;
  readonly options: MakeFlags & OutputFlags;
  readonly output: Output;
}

async function make(
  request: GivenRequest,
  wanted: Wanted,
  { context, options, output }: Making,
): Promise<void> {
  const timeoutMs = parseDuration(options.timeout);
  const { kind } = wanted;
  if (request.prompt === undefined)
    throw usage(`There is no prompt: say what to make, such as \`svc ${kind} "a lighthouse at dusk"\`.`);
  const saving = readSaving(options, context, output, fileNameOf(request.prompt) ?? kind);
  checkTarget(saving.target, request.count);
  const remote = connect(options, context, output);
  const choice = await chooseModel(remote.client, request, wanted);
  const { model, body, estimate } = choice;
  if (options.dryRun === true) {
    const lines =
      estimate === undefined ? "The server gives no estimate.\n" : await estimateText(estimate, output);
    output.show(estimate ?? { model: model.id }, () => lines);
    return;
  }
  announce(choice, options, output);
  const created = await createTask(options, context, (key) => remote.client.create(kind, body, key));
  await follow(remote, context, output, { kind, id: created.taskId, timeoutMs, saving });
}

/** Says which model is taken, why, and what it costs, before anything is sent. */
function announce({ model, estimate, among }: Choice, { model: asked }: MakeFlags, output: Output): void {
  const cost = estimate === undefined ? undefined : costInWords(estimate);
  const reason =
    asked !== undefined
      ? undefined
      : among === 1
        ? "the only one that takes this"
        : `the cheapest of ${among} that take this`;
  const why = reason === undefined ? undefined : `(${reason}; -m names another)`;
  output.say(printable(["model", model.id, cost, why].filter((part) => part !== undefined).join("  ")));
}

/** The last argument is the prompt, unless a flag has it. */
function splitArguments(args: readonly string[], { prompt, jsonInput }: RequestFlags) {
  if (prompt !== undefined || jsonInput !== undefined) return { paths: args, words: undefined };
  const paths = args.slice(0, -1);
  const words = args.at(-1);
  if (paths.length > 0) return { paths, words };
  throw usage('Give the images and then what to change: svc edit photo.png "make it winter".');
}
