import type { Command } from "commander";
import { type AdminCalls, createAdminCalls } from "../client/admin.ts";
import type { ClientOptions } from "../client/exchange.ts";
import { type Reading, readingOf } from "../client/overview.ts";
import { type Poll, pollForever } from "../client/poll.ts";
import { clientOptions } from "../client/remote.ts";
import { type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { type ClientSettings, type OperatorFlags, readOperatorSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { withTokenFlags } from "../flags/credentials.ts";
import type { Output } from "../format/output.ts";
import {
  CHECK_CELLS,
  LANE_CELLS,
  MODEL_CELLS,
  overviewFields,
  overviewLine,
  PROVIDER_CELLS,
} from "../format/overview-view.ts";
import { hasColour } from "../format/style.ts";
import { type Column, column, renderFields } from "../format/table.ts";
import { parseDuration } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";

const PATH = "/overview";
const [SHORTEST_MS, LONGEST_MS] = [200, 3_600_000];

interface TopFlags extends OperatorFlags {
  readonly interval: string;
  readonly once?: boolean;
  readonly verbose?: boolean;
}

export function defineTop(command: Command, context: Context): void {
  withCommonFlags(command)
    .option("-s, --server <url>", "address of the server (SVC_SERVER; default http://127.0.0.1:8787)")
    .option(
      "--profile <name>",
      "profile of `svc login` that names the server and holds the token (SVC_PROFILE)",
    )
    .option("--interval <duration>", "how often to ask: 200ms to 1h", "1s")
    .option("--once", "print one reading and end")
    .option("-v, --verbose", "print requests and answers on stderr");
  withTokenFlags(command);
  withExits(command, "auth", "notFound", "overloaded", "unreachable", "interrupted", "terminated");
  withExamples(
    command,
    "svc top",
    ["svc top --once --json", "one reading, for a script"],
    ["svc top --plain --interval 10s", "a line of name=value each ten seconds"],
  );
  withNotes(
    command,
    "Shows requests and creates by second, queues, tasks under way, how tasks of the last hour ended by model and provider, callbacks owed, spend, memory, event loop and disk. On a terminal it fills the screen; ? explains its keys. Elsewhere, and with --plain, it prints a line at each interval; with --json a line of JSON. A server that goes away is asked until it is back.",
  );
  onRun<TopFlags>(command, context, (invocation) => top(invocation));
}

async function top({ context, output, options }: Invocation<TopFlags>): Promise<void> {
  const intervalMs = readInterval(options.interval);
  const settings = readOperatorSettings(options, context);
  const client = clientOptions(options, context, output);
  const polling = { settings, client, intervalMs };
  try {
    if (options.once === true) await showOnce(createAdminCalls(settings, client), output);
    else if (output.mode === "pretty" && (await canDraw(context)))
      await drawForever(polling, hasColour(context, context.stdout, options));
    else await printForever(polling, context, output);
  } catch (error) {
    throw withAdvice(error);
  }
}

async function showOnce(server: AdminCalls, output: Output): Promise<void> {
  const data = await server.get(PATH);
  const reading = readingOf(data);
  if (output.mode !== "pretty") {
    output.show(data, () => overviewLine(reading));
    return;
  }
  const tables = [
    await tableOf(output, MODEL_CELLS, reading.models),
    await tableOf(output, LANE_CELLS, reading.lanes),
    await tableOf(output, PROVIDER_CELLS, reading.providers),
    ...(reading.checks.length === 0 ? [] : [await tableOf(output, CHECK_CELLS, reading.checks)]),
  ];
  output.show(data, () => [renderFields(overviewFields(reading), output), ...tables].join("\n"));
}

function tableOf<Row>(
  output: Output,
  cells: Readonly<Record<string, (row: Row) => string>>,
  rows: readonly Row[],
): Promise<string> {
  const columns = Object.keys(cells).map(
    (title, i): Column =>
      i === 0 || (cells === PROVIDER_CELLS && title === "REFUSED")
        ? column.text(title)
        : column.number(title),
  );
  return output.table(
    columns,
    rows.map((row) => Object.values(cells).map((cell) => cell(row))),
  );
}

interface Polling {
  readonly settings: ClientSettings;
  readonly client: ClientOptions;
  readonly intervalMs: number;
}

/** Reads the overview at each interval, until the signal ends it. */
function poll(
  { settings, client, intervalMs }: Polling,
  on: Pick<Poll, "onAnswer" | "onTrouble"> & Partial<Pick<Poll, "signal">>,
): Promise<never> {
  return pollForever({
    ...{ timing: client.timing, signal: client.signal, intervalMs },
    ask: (signal) => createAdminCalls(settings, { ...client, signal }).attempt(PATH),
    ...on,
  });
}

async function printForever(polling: Polling, context: Context, output: Output): Promise<never> {
  let isLost = false;
  return await poll(polling, {
    onAnswer(data) {
      if (isLost) output.say(`${polling.settings.server} answers again.`);
      isLost = false;
      const reading = readingOf(data);
      context.stdout.write(output.mode === "json" ? output.jsonLine(data) : overviewLine(reading));
    },
    onTrouble({ message }) {
      if (!isLost) output.warn(`${message} It is asked until it answers.`);
      isLost = true;
    },
  });
}

/** Ends when a person ends it. */
async function drawForever(polling: Polling, isColoured: boolean): Promise<void> {
  // Loaded late: Ink is slow to load, and few commands draw.
  const { openTop } = await import("../tui/top/screen.tsx");
  const { client, settings } = polling;
  const over = new AbortController();
  const first = Promise.withResolvers<Reading>();
  let screen: ReturnType<typeof openTop> | undefined;
  // Nothing else may write to the screen.
  const silent = { ...polling, client: { ...client, onExchange: undefined } };
  const polled = poll(silent, {
    signal: AbortSignal.any([client.signal, over.signal]),
    onAnswer(data) {
      const reading = readingOf(data);
      if (screen === undefined) first.resolve(reading);
      else screen.show(reading);
    },
    onTrouble: (failure) => screen?.lose(failure),
  }).catch((error: unknown) => {
    first.reject(error);
    screen?.end(error);
  });
  screen = openTop(await first.promise, { server: settings.server, isColoured, now: client.timing.now });
  try {
    await screen.closed;
  } finally {
    over.abort();
    await polled;
  }
}

async function canDraw({ env }: Context): Promise<boolean> {
  const { canDraw } = await import("../tui/kit/terminal.ts");
  return canDraw(env);
}

function readInterval(text: string): number {
  const ms = parseDuration(text);
  if (ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms;
  throw usage(`--interval must be from 200ms to 1h, got "${text.slice(0, 80)}".`);
}

/** Says why there may be nothing to watch. */
function withAdvice(error: unknown): unknown {
  const isMissing = error instanceof Failure && error.exitCode === EXIT.notFound;
  if (!isMissing) return error;
  return error.withHint("The server has no overview: its version may be older than this program's.");
}
