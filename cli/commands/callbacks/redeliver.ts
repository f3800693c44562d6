import { type Command, Option } from "commander";
import { CALLBACK_STATES } from "../../../src/domain/callback/callback.ts";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { placeAgain } from "../../again.ts";
import type { CallbackQuery, Callbacks } from "../../client/callbacks.ts";
import {
  createForwarder,
  FORWARDS_AT_ONCE,
  type Forwarded,
  forwardedForm,
  forwardedText,
  isAcknowledged,
  readForwardUrl,
} from "../../client/forward.ts";
import { createInOrder } from "../../client/in-order.ts";
import { post } from "../../client/post.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, unexpectedAnswer, usage } from "../../failure.ts";
import { readPastTime } from "../../flags/values.ts";
import {
  CALLBACK_COLUMNS,
  type CallbackPage,
  type CallbackView,
  callbackRow,
  MANAGED_COLUMNS,
  managedRow,
} from "../../format/callback-view.ts";
import type { Output } from "../../format/output.ts";
import { renderTsv } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import {
  type CallbackPlace,
  FOR_OPERATORS,
  type OwnerFlags,
  onCallbackRun,
  ownersOf,
  withOwnerFlags,
} from "../../manage/callbacks.ts";
import { addCallerCommand } from "../../manage/caller.ts";

const HEADERS = { "Content-Type": "application/json", "User-Agent": "Service-Callback/1.0" };

type RedeliverFlags = OwnerFlags & Partial<Record<"since" | "until" | "state" | "forward", string>>;

export function addRedeliver(callbacks: Command, context: Context): void {
  const description = "send a callback, or those of a time range, again";
  const command = addCallerCommand(callbacks, "redeliver [callback]", description)
    .option("--since <when>", "those created since: 2h ago, or a time in ISO 8601")
    .option("--until <when>", "with --since: only those created before")
    .addOption(
      new Option("--state <state>", "with --since: only those in this state").choices(CALLBACK_STATES),
    )
    .option("--forward <url>", "post them to this URL from this machine instead");
  withOwnerFlags(command);
  withExamples(
    command,
    "svc callbacks redeliver task_01m7…",
    "svc callbacks redeliver --since 2h --state failed",
    "svc callbacks redeliver task_01m7… --forward localhost:3000/hook",
  );
  withNotes(
    command,
    "The server sends each callback again at once; this does not count as one of its five attempts. With --forward the server sends nothing: this machine posts the callback, without a signature, which only the server can make.",
    FOR_OPERATORS,
  );
  onCallbackRun<RedeliverFlags>(command, context, async ({ args, options, output, open }) => {
    const [id] = args;
    const range = readRange(id, options);
    const target = options.forward === undefined ? undefined : readForwardUrl(options.forward);
    const place = await open();
    const { callbacks } = place;
    if (target !== undefined) {
      const chosen =
        id === undefined ? pages(callbacks.callbacks, { ...range, limit: "100" }) : one(callbacks, id);
      await forwardAll(place, context, output, { target, chosen });
    } else if (id === undefined) {
      await redeliverRange(place, output, range);
    } else {
      const callback = await callbacks.redeliver(await callbacks.callbackIdOf(id));
      const where = placeAgain(command);
      output.done(`${sentText(place)}. How it went: svc callbacks show ${callback.id}${where}`);
      output.show(callback, () => `${callback.id}\n`);
    }
  });
}

/** What became of a request: beside the folder, the server that sends may not be running. */
function sentText({ at, isFolder }: CallbackPlace): string {
  if (isFolder) return `To be sent once more (${at}), within a second where a server runs`;
  return at === undefined ? "To be sent once more" : `To be sent once more (${at})`;
}

function readRange(id: string | undefined, { since, until, state, ...flags }: RedeliverFlags): CallbackQuery {
  const { account, key_id } = ownersOf(flags);
  if (id !== undefined && (since ?? until ?? state ?? account ?? key_id) !== undefined)
    throw usage("Give a callback or a task, or --since with other flags that choose, not both.");
  if (id === undefined && since === undefined)
    throw usage(
      "Say which: the id of a callback or of a task, or --since.",
      "See `svc callbacks redeliver --help`.",
    );
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { from: readPastTime("--since", since, now) }),
    ...(until === undefined ? {} : { to: readPastTime("--until", until, now) }),
    ...(state === undefined ? {} : { state }),
    ...(account === undefined ? {} : { account }),
    ...(key_id === undefined ? {} : { key_id }),
  };
}

async function redeliverRange(place: CallbackPlace, output: Output, range: CallbackQuery): Promise<void> {
  const [columns, rowOf] = place.isOperator ? [MANAGED_COLUMNS, managedRow] : [CALLBACK_COLUMNS, callbackRow];
  const all: CallbackView[] = [];
  try {
    for await (const callback of pages(place.callbacks.redeliverRange, range)) {
      all.push(callback);
      output.progress(`${all.length} callbacks so far`);
    }
  } catch (error) {
    // Whoever repeats the command would send these twice.
    const last = all.at(-1);
    if (last !== undefined)
      output.warn(
        `${sentText(place)} before this: ${all.length}, the newest first, the last one ${last.id}.`,
      );
    throw error;
  }
  await output.list({ callbacks: all }, columns, all.map(rowOf));
  if (all.length === 0) output.say("No callbacks.");
  else output.done(`${sentText(place)}: ${all.length}`);
}

/** @throws Failure when one was not acknowledged, after all of them were tried */
async function forwardAll(
  { callbacks, timing, signal }: CallbackPlace,
  context: Context,
  output: Output,
  { target, chosen }: { target: string; chosen: AsyncIterable<{ readonly id: string }> },
): Promise<void> {
  const forward = createForwarder({ post }, { url: target, now: timing.now, signal });
  const results: { callback: CallbackView; forwarded: Forwarded }[] = [];
  const line = ({ id, task_id }: CallbackView, forwarded: Forwarded) =>
    output.mode === "pretty"
      ? `${id}  ${task_id} -> ${forwardedText(forwarded, output.style)}\n`
      : renderTsv([[id, task_id, forwardedText(forwarded, output.style)]]);
  const inOrder = createInOrder<(typeof results)[number]>(FORWARDS_AT_ONCE, (result) => {
    results.push(result);
    if (output.mode !== "json") context.stdout.write(line(result.callback, result.forwarded));
  });
  for await (const { id } of chosen) {
    const callback = await callbacks.callback(id);
    const body = JSON.stringify(bodyOf(callback));
    await inOrder.add(async () => ({ callback, forwarded: await forward({ headers: HEADERS, body }) }));
  }
  await inOrder.done();
  if (output.mode === "json") output.show({ callbacks: results.map(resultForm) }, () => "");
  if (results.length === 0) output.say("No callbacks.");
  const failed = results.filter(({ forwarded }) => !isAcknowledged(forwarded)).length;
  if (failed === 0) return;
  const message = `${failed} of ${results.length} ${results.length === 1 ? "callback was" : "callbacks were"} not acknowledged.`;
  throw new Failure(EXIT.error, "callback_not_acknowledged", message);
}

function resultForm({ callback, forwarded }: { callback: CallbackView; forwarded: Forwarded }) {
  return { callback_id: callback.id, task_id: callback.task_id, forward: forwardedForm(forwarded) };
}

function bodyOf({ payload }: CallbackView): JsonObject {
  if (isJsonObject(payload)) return payload;
  throw unexpectedAnswer("The server does not say what the callback says.");
}

async function* one(callbacks: Callbacks, idOrTask: string): AsyncGenerator<{ readonly id: string }> {
  yield { id: await callbacks.callbackIdOf(idOrTask) };
}

/** Reads all callbacks of a range, newest first, page by page. */
async function* pages(
  read: (query: CallbackQuery) => Promise<CallbackPage>,
  query: CallbackQuery,
): AsyncGenerator<CallbackView> {
  for (let after: string | undefined; ; ) {
    const page = await read(after === undefined ? query : { ...query, after });
    yield* page.callbacks;
    if (page.next === null) return;
    after = page.next;
  }
}
