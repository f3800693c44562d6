import { type Command, Option } from "commander";
import { isJsonObject } from "../../../src/domain/json.ts";
import { followEvents, type ServerEvent } from "../../client/event-source.ts";
import { createForwarder, FORWARDS_AT_ONCE, type Forwarded, readForwardUrl } from "../../client/forward.ts";
import { createInOrder } from "../../client/in-order.ts";
import { addRemoteCommand, connect, type Remote, type RemoteFlags } from "../../client/remote.ts";
import { onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { type Listened, listenedForm, listenedLine, listenedOf } from "../../format/listened.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";
import { withExamples, withNotes } from "../../help/manual.ts";

interface ListenFlags extends RemoteFlags {
  readonly forward?: string;
  readonly printJson?: boolean;
  readonly sinceId?: string;
  readonly replay?: boolean;
}

export function addListen(callbacks: Command, context: Context): void {
  const description = "show callbacks as they are sent, and forward them to your own machine";
  const command = addRemoteCommand(callbacks, "listen", description)
    .option("--forward <url>", "forward each callback to this URL from this machine")
    .option("--print-json", "print each callback with headers and body as a line of JSON, like --json")
    .option("--since-id <number>", "begin after this event, whose number an earlier run prints at its end")
    .addOption(new Option("--replay", "begin with the callbacks of all existing tasks").conflicts("sinceId"));
  withExamples(
    command,
    "svc callbacks listen --forward http://localhost:3000/hook",
    "svc callbacks listen --print-json | jq -r .body",
    [
      "svc callbacks listen --replay --forward localhost:3000/hook",
      "everything since the first task, then what comes",
    ],
  );
  withNotes(
    command,
    "Shows the callback at the end of each of the key's tasks, with or without a callback_url. --forward posts the same, signature included, from this machine, so that you can try a receiver that the server cannot reach. Each callback is forwarded once. `svc callbacks trigger completed` makes one.",
  );
  onRun<ListenFlags>(command, context, async ({ options, output }) => {
    const target = options.forward === undefined ? undefined : readForwardUrl(options.forward);
    const lastEventId = options.replay === true ? "0" : readEventId(options.sinceId);
    const remote = connect(options, context, output);
    const isJson = output.mode === "json" || options.printJson === true;
    await listen(remote, context, output, { target, lastEventId, isJson });
  });
}

interface ListenJob {
  readonly target: string | undefined;
  readonly lastEventId: string | undefined;
  readonly isJson: boolean;
}

/** The outcome of an event. */
interface Heard {
  readonly listened: Listened;
  readonly id: string | undefined;
  readonly forwarded: Forwarded | null;
}

async function listen(
  { client, timing, signal }: Remote,
  context: Context,
  output: Output,
  job: ListenJob,
): Promise<never> {
  const { target } = job;
  const owner = await ownerOf(client);
  const forward =
    target === undefined ? undefined : createForwarder(client, { url: target, now: timing.now, signal });
  /** Id of the last event printed, so that the next run can continue after it. */
  let told = job.lastEventId;
  let isReceiverDown = false;

  const inOrder = createInOrder<Heard>(FORWARDS_AT_ONCE, ({ listened, id, forwarded }) => {
    // A post that Ctrl-C interrupted has no outcome.
    if (signal.aborted) return;
    const line = job.isJson
      ? output.jsonLine(listenedForm(listened, forwarded))
      : listenedLine(listened, forwarded, output, Date.now());
    context.stdout.write(line);
    const isDown = forwarded !== null && forwarded.status === null;
    if (isDown && !isReceiverDown) output.say(againHint(listened, id, target ?? ""));
    isReceiverDown = isDown;
    told = id ?? told;
  });

  const take = async ({ name, id, data }: ServerEvent) => {
    if (name !== "callback") return;
    const listened = listenedOf(data);
    if (listened === undefined)
      return output.warn("The server sent a callback that cannot be read; it is left out.");
    await inOrder.add(async () => ({
      listened,
      id,
      forwarded: forward === undefined ? null : await forward(listened),
    }));
  };
  return followEvents({
    open: client.callbackEvents,
    timing,
    signal,
    lastEventId: job.lastEventId,
    take,
    ...reportsOf(output, { server: client.server, owner, target }),
  }).catch((error: unknown) => {
    throw withResumeHint(error, told);
  });
}

/** Says when listening begins, when the connection is lost, and when it is back. */
function reportsOf(
  output: Output,
  { server, owner, target }: { server: string; owner: string | undefined; target: string | undefined },
) {
  let isFirst = true;
  let isLost = false;
  return {
    onOpen() {
      if (isFirst) {
        output.say(`Listening on ${server}${owner === undefined ? "" : ` for ${owner}`}. Ctrl-C ends it.`);
        if (target !== undefined) output.say(`Forwarding to ${target}`);
      } else if (isLost) output.say("Listening again.");
      [isFirst, isLost] = [false, false];
    },
    onTrouble({ failure }: { readonly failure: Failure }) {
      if (!isLost) output.warn(`${failure.message} It is tried until it answers.`);
      isLost = true;
    },
  };
}

/** Name and prefix of the key, as far as the server shows them. */
async function ownerOf({ accountStatus }: Remote["client"]): Promise<string | undefined> {
  try {
    const { key } = await accountStatus();
    if (!isJsonObject(key) || typeof key.name !== "string" || typeof key.prefix !== "string")
      return undefined;
    return printable(`key ${key.name} (${key.prefix})`);
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

function againHint({ callbackId }: Listened, id: string | undefined, target: string): string {
  const again =
    callbackId === null
      ? // Event numbers ascend, so this event is the first one after the number before it.
        `from this one on again: svc callbacks listen --since-id ${Number(id ?? 1) - 1} --forward ${target}`
      : `this one again: svc callbacks redeliver ${printable(callbackId)} --forward ${target}`;
  return `  Nobody answers at ${target}. Each is forwarded once; ${again}`;
}

/** Prints how to continue without missing an event. */
function withResumeHint(error: unknown, told: string | undefined): unknown {
  if (!(error instanceof Failure) || told === undefined) return error;
  const resume = `\`svc callbacks listen --since-id ${told}\` goes on from here.`;
  const hint = error.hint === undefined ? resume : `${error.hint} ${resume}`;
  return error.withHint(hint, { since_id: told });
}

function readEventId(text: string | undefined): string | undefined {
  if (text === undefined || /^\d{1,15}$/.test(text)) return text;
  throw usage(`--since-id must be the number of an event, got "${text.slice(0, 80)}".`);
}
