import type { Operations } from "../../api/published.d.ts";
import { counted } from "../../parts/count.ts";

export type Readiness = Operations["GET /admin/v1/readiness"]["data"];

const SHED: Readonly<Record<string, string>> = {
  creates: "new tasks",
  lists: "lists and estimates",
  reads: "statuses and traces of tasks",
  queues: "new tasks of callers whose tasks wait too long already",
};

/** The service at one glance: what it cannot do comes before what a check found. */
export function verdictOn({ ready, reason, shedding, warnings, checks }: Readiness): {
  readonly text: string;
  readonly tone: "good" | "warn" | "bad";
  readonly more: readonly string[];
} {
  const count = (status: string) => checks.filter((check) => check.status === status).length;
  const [errors, warns] = [count("error"), count("warn")];
  const more = [
    ...(shedding.length > 0
      ? [
          `There is too much to do. A part is refused of: ${shedding.map((each) => SHED[each] ?? each).join(", ")}.`,
        ]
      : []),
    ...(warnings.includes("disk_low")
      ? ["Little space is left on the disk. With less, no new tasks will be taken."]
      : []),
  ];
  if (!ready)
    return { text: `No new tasks are taken: ${reason?.replaceAll("_", " ") ?? ""}`, tone: "bad", more };
  if (errors > 0)
    return { text: `New tasks are taken, but ${counted(errors, "check")} failed`, tone: "bad", more };
  if (warns + more.length > 0)
    return { text: "New tasks are taken; something needs a look", tone: "warn", more };
  return { text: "All is well", tone: "good", more };
}
