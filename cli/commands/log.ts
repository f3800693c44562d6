import type { Command } from "commander";
import { LOG_LEVELS, LONGEST_LOG_LEVEL_SEC } from "../../src/domain/log-level.ts";
import { createAdminCalls, HARMLESS } from "../client/admin.ts";
import { clientOptions } from "../client/remote.ts";
import { addCommand, addCommands, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { type OperatorFlags, readOperatorSettings } from "../environment.ts";
import { usage } from "../failure.ts";
import { withTokenFlags } from "../flags/credentials.ts";
import { formatTime, parseDuration } from "../format/units.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";

const PATH = "/log/level";

interface LevelFlags extends OperatorFlags {
  readonly for?: string;
  readonly verbose?: boolean;
}

export function defineLog(log: Command, context: Context, [word]: readonly string[]): void {
  addCommands(log, context, { level: addLevel }, word);
}

function addLevel(log: Command, context: Context): void {
  const command = addCommand(log, "level [level]", "show or change the level of a running server's log");
  withCommonFlags(command)
    .option("-s, --server <url>", "address of the server (SVC_SERVER; default http://127.0.0.1:8787)")
    .option(
      "--profile <name>",
      "profile of `svc login` that names the server and holds the token (SVC_PROFILE)",
    )
    .option("--for <duration>", "after which the usual level comes back: up to 24h; 10m unless given")
    .option("-v, --verbose", "print requests and answers on stderr");
  withTokenFlags(command);
  withExits(command, "auth", "overloaded", "stillRunning", "unreachable", "interrupted");
  withExamples(command, "svc log level", ["svc log level debug --for 10m", "tells more, for ten minutes"]);
  withNotes(
    command,
    `LEVEL is ${LOG_LEVELS.join(", ")}. The level of the settings comes back by itself, and with a restart; name it to have it back now.`,
  );
  onRun<LevelFlags>(command, context, async ({ args, options, context: own, output }) => {
    const calls = createAdminCalls(readOperatorSettings(options, own), clientOptions(options, own, output));
    const body = readChange(args[0], options.for);
    const state = body === undefined ? await calls.get(PATH) : await calls.send("POST", PATH, body, HARMLESS);
    const { level, usual, until } = state;
    if (body !== undefined) output.done(`The log on ${calls.server} tells ${String(level)}.`);
    const more = typeof until === "number" ? `until ${formatTime(until * 1_000)}, then ${String(usual)}` : "";
    output.show(state, () => `${[level, more].filter((part) => part !== "").join(" ")}\n`);
  });
}

/** The body of the change that is asked for; undefined where the level is only to be shown. @throws Failure (exit 2) */
function readChange(level: string | undefined, duration: string | undefined) {
  if (level === undefined) {
    if (duration === undefined) return undefined;
    throw usage("--for goes with a level.", "svc log level debug --for 10m");
  }
  if (!(LOG_LEVELS as readonly string[]).includes(level))
    throw usage(`"${level.slice(0, 80)}" is not a level; use ${LOG_LEVELS.join(", ")}.`);
  if (duration === undefined) return { level };
  const seconds = Math.ceil(parseDuration(duration) / 1_000);
  if (seconds < 1 || seconds > LONGEST_LOG_LEVEL_SEC) throw usage("--for takes 1s to 24h.");
  return { level, for_seconds: seconds };
}
