import { counted, countText } from "../../parts/count.ts";
import type { History } from "./series.ts";

type Minutes = Pick<History, "at" | "minutes">;

const MINUTE_SEC = 60;

/** How a stretch of minutes went, at its worst. */
export interface Beat {
  readonly since: number;
  readonly until: number;
  readonly worst: "faults" | "failures" | "fine" | "idle";
  readonly faults: number;
  readonly failures: number;
}

const MOST_BEATS = 60;

/** The minutes in at most sixty stretches of as many minutes each, the earliest first. */
export function beatsOf({ at, minutes }: Minutes): Beat[] {
  const size = Math.max(1, Math.ceil(at.length / MOST_BEATS));
  return Array.from({ length: Math.ceil(at.length / size) }, (_, i): Beat => {
    const [first, end] = [i * size, Math.min(at.length, (i + 1) * size)];
    const sum = (figure: keyof History["minutes"]) =>
      minutes[figure].slice(first, end).reduce((total, value) => total + value, 0);
    const [faults, failures] = [sum("answered_5xx"), sum("failed")];
    const asked = sum("answered_2xx") + sum("answered_3xx") + sum("answered_4xx");
    const done = sum("completed") + sum("created") + asked;
    return {
      since: (at[first] ?? 0) - MINUTE_SEC,
      until: at[end - 1] ?? 0,
      worst: faults > 0 ? "faults" : failures > 0 ? "failures" : done > 0 ? "fine" : "idle",
      faults,
      failures,
    };
  });
}

/** The stretches in words. */
export function summaryOf(beats: readonly Beat[]): string {
  const sum = (of: "faults" | "failures") => beats.reduce((total, beat) => total + beat[of], 0);
  const [faults, failures] = [sum("faults"), sum("failures")];
  if (faults + failures === 0) return "No answer was an error of the service (5xx), and no task failed.";
  const answers =
    faults === 0 ? "No answer was" : faults === 1 ? "1 answer was" : `${countText(faults)} answers were`;
  return `${answers} an error of the service (5xx), and ${failures === 0 ? "no task" : counted(failures, "task")} failed.`;
}

/** One of them in words. */
export function beatText({ worst, faults, failures }: Beat): string {
  if (worst === "idle") return "nothing was asked for";
  if (worst === "fine") return "all went well";
  return `${counted(faults, "answer")} 5xx, ${counted(failures, "failed task")}`;
}
