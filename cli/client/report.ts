import type { Context } from "../context.ts";
import type { Failure } from "../failure.ts";
import { type Output, widthOf } from "../format/output.ts";
import {
  type Moment,
  progressLine,
  takesTerminalProgress,
  terminalProgress,
} from "../format/progress-line.ts";
import { styleFor } from "../format/style.ts";
import type { TaskView } from "./answer.ts";
import { hasEnded, type WaitOptions } from "./wait.ts";

/** Shows the progress of a task that the command waits for. */
export interface Report extends Pick<WaitOptions, "onRead" | "onTrouble" | "longPollMs"> {
  stop(): void;
}

/** How often a task is read whose progress is drawn, so that its bar moves. */
const DRAWN_POLL_MS = 2_000;
const TICK_MS = 1_000;
const ERASE_LINE = "\r\u001b[2K";

/** Drawn in place on a terminal, otherwise one line per change. */
export async function createReport(
  context: Context,
  output: Output,
  task: { readonly id: string; readonly elapsedMs: () => number },
): Promise<Report> {
  const isDrawn = context.stderr.isTerminal && output.isTalkative && context.env.TERM !== "dumb";
  return isDrawn ? await draw(context, output, task) : tell(output);
}

async function draw(
  context: Context,
  output: Output,
  { id, elapsedMs }: { readonly id: string; readonly elapsedMs: () => number },
): Promise<Report> {
  const { env, stderr } = context;
  const style = await styleFor(context, stderr, { color: output.isColoured });
  const tellTerminal = (progress: Parameters<typeof terminalProgress>[0]) => {
    if (takesTerminalProgress(env)) stderr.write(terminalProgress(progress));
  };
  let moment: Omit<Moment, "elapsedSec"> = { id, status: "pending", progress: 0 };
  const show = () => {
    const elapsedSec = Math.floor(elapsedMs() / 1000);
    // A terminal wraps what reaches its last column.
    const line = progressLine({ ...moment, elapsedSec }, widthOf(stderr) - 1, style);
    output.clear();
    stderr.write(ERASE_LINE + line);
  };
  tellTerminal("unknown");
  show();
  const timer = setInterval(show, TICK_MS);
  return {
    onRead({ status, progress, queue_position }) {
      const known = typeof progress === "number" ? progress : 0;
      const queuePosition = typeof queue_position === "number" ? queue_position : undefined;
      moment = { id, status, progress: known, queuePosition };
      tellTerminal(known === 0 ? "unknown" : known);
      show();
    },
    onTrouble() {
      moment = { ...moment, trouble: "no answer, waiting" };
      show();
    },
    longPollMs: DRAWN_POLL_MS,
    stop() {
      clearInterval(timer);
      stderr.write(ERASE_LINE);
      tellTerminal("none");
    },
  };
}

function tell(output: Output): Report {
  let last = "";
  let isTroubled = false;
  return {
    onRead(task: TaskView) {
      const progress = typeof task.progress === "number" ? ` ${task.progress} %` : "";
      const line = `${task.task_id} ${task.status}${progress}`;
      if (isTroubled) output.say("The server answers again.");
      isTroubled = false;
      if (line !== last && !hasEnded(task)) output.say(line);
      last = line;
    },
    onTrouble({ message }: Failure) {
      if (!isTroubled) output.say(`${message} The task goes on; waiting for the server.`);
      isTroubled = true;
    },
    stop: () => {},
  };
}
