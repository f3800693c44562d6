import type { PollsReport } from "./routes-polls.ts";
import type { RoutesReport } from "./routes-run.ts";

export const COLUMNS = [
  ...["seed", "well", "tasks", "completed", "moderated", "lost", "other", "submitted", "failed over"],
  ...["opened", "refused", "probes", "added p99", "waited p99", "took", "verdict"],
] as const;

/** A line of the table. `added`: by failing over to the account that is well; `waited`: while that one had room. */
export function cellsOf(report: RoutesReport, findings: number): string[] {
  const { ends, counts } = report;
  const tasks = Object.values(ends).reduce((sum, count) => sum + count, 0);
  const { completed = 0, CONTENT_MODERATED: moderated = 0, OUTCOME_UNKNOWN = 0, UPSTREAM_TIMEOUT = 0 } = ends;
  const lost = OUTCOME_UNKNOWN + UPSTREAM_TIMEOUT;
  const other = tasks - completed - moderated - lost;
  const { submissions, failedOver, opened, refused, probes } = counts;
  const numbers = [
    tasks,
    completed,
    moderated,
    lost,
    other,
    submissions,
    failedOver,
    opened,
    refused,
    probes,
  ];
  return [
    ...[String(report.seed), report.steady, ...numbers.map(String)],
    ...[`${report.addedP99Ms} ms`, inSeconds(report.waitedP99Ms), inSeconds(report.elapsedMs)],
    findings === 0 ? "PASS" : `FAIL: ${findings}`,
  ];
}

export function row(cells: readonly string[]): string {
  return cells
    .map((cell, i) => cell.padStart(Math.max(COLUMNS[i]?.length ?? 0, i === 1 ? 12 : 5)))
    .join("  ");
}

export function describePolls({ tasks, polls, mostPolls, intervalMs, noticedP99Ms }: PollsReport): string {
  return `${tasks} tasks on one account: ${polls} polls, ${mostPolls} a second at most; each is asked for every ${inSeconds(intervalMs)}, p99 from the end of a job to that of its task ${inSeconds(noticedP99Ms)}`;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
