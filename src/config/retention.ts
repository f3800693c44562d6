import { AUTO_TEXTS, type DiskMark, type DiskMarks } from "../domain/disk-marks.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { type Setting, setting } from "../toolkit/settings/setting.ts";

/** Ten years. */
const MOST_SEC = 315_360_000;
/** 31 days: a task's money is asked about while its month lasts. */
const LEAST_BOOKS_SEC = 2_678_400;

/** How long what is kept of ended tasks stays, and what is done when the disk fills up all the same. */
export function retentionSettings() {
  return {
    retention: {
      outputsMs: kept("outputs", "how long the files of a task's results stay after its end"),
      inputsMs: kept("inputs", "how long the files of its inputs stay after its end"),
      callbacksMs: kept("callbacks", "how long a task's callback and its sends stay after the task's end"),
      tasksMs: kept("tasks", "when an ended task is deleted with everything but its money, as its owner can"),
      booksMs: kept(
        "books",
        "how long the books have a deleted task's own lines, from its deletion on; then sums by day",
        LEAST_BOOKS_SEC,
      ),
    },
    disk: {
      warnMb: free(
        "warn",
        "with less space free on the disk of the data, the log, /readyz and alerts say so",
      ),
      refuseMb: free("refuse", "with less space free there, new tasks are refused"),
    },
  };
}

function free(which: keyof DiskMarks, help: string): Setting<DiskMark> {
  return setting<DiskMark>({
    key: `disk.${which}_mb`,
    live: true,
    flag: `--disk-${which}-mb <megabytes>`,
    help: `${help}; off: never`,
    parse: mark,
    fallback: "auto",
    fallbackText: AUTO_TEXTS[which],
  });
}

const megabytes = parse.portOrOff(parse.integer(1, 1_000_000_000));
/** Megabytes, `off` or `auto`. */
const mark: parse.Parser<DiskMark> = parse.withSchema<DiskMark>(
  { anyOf: [megabytes.schema ?? {}, { const: "auto" }] },
  (raw) => {
    if (raw === "auto") return { ok: true, value: "auto" };
    const parsed = megabytes(raw);
    return parsed.ok ? parsed : { ok: false, expected: `${parsed.expected}, or auto` };
  },
  (value) => value ?? "off",
);

function kept(what: string, help: string, leastSec = 1): Setting<number | undefined> {
  return setting<number | undefined>({
    key: `retention.${what}_seconds`,
    live: true,
    flag: `--retention-${what}-seconds <seconds>`,
    help: `${help}; off: for ever`,
    parse: parse.secondsOrOffAsMs(leastSec, MOST_SEC),
    fallback: undefined,
    fallbackText: "off",
  });
}
