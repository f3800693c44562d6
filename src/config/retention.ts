import * as parse from "../toolkit/settings/parsers.ts";
import { type Setting, setting } from "../toolkit/settings/setting.ts";

/** Ten years. */
const MOST_SEC = 315_360_000;

/** How long what is kept of ended tasks stays, and what is done when the disk fills up all the same. */
export function retentionSettings() {
  return {
    retention: {
      outputsMs: kept("outputs", "how long the files of a task's results stay after its end"),
      inputsMs: kept("inputs", "how long the files of its inputs stay after its end"),
      callbacksMs: kept("callbacks", "how long a task's callback and its sends stay after the task's end"),
      tasksMs: kept("tasks", "when an ended task is deleted with everything but its money, as its owner can"),
    },
    disk: {
      warnMb: free("warn", "with less space free on the disk of the data, the log and /readyz say so"),
      refuseMb: free("refuse", "with less space free there, new tasks are refused"),
    },
  };
}

function free(what: string, help: string): Setting<number | undefined> {
  return setting<number | undefined>({
    key: `disk.${what}_mb`,
    flag: `--disk-${what}-mb <megabytes>`,
    help: `${help}; off: never`,
    parse: parse.portOrOff(parse.integer(1, 1_000_000_000)),
    fallback: undefined,
    fallbackText: "off",
  });
}

function kept(what: string, help: string): Setting<number | undefined> {
  return setting<number | undefined>({
    key: `retention.${what}_seconds`,
    flag: `--retention-${what}-seconds <seconds>`,
    help: `${help}; off: for ever`,
    parse: parse.secondsOrOffAsMs(1, MOST_SEC),
    fallback: undefined,
    fallbackText: "off",
  });
}
