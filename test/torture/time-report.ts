import type { TimeReport } from "./time-run.ts";
import { printVerdict } from "./verdict.ts";

/** The report for people, and the verdict as its last line. */
export function printTimeReport(report: TimeReport, findings: readonly string[], total: number): void {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const lines = [
    `seed        ${report.seed}`,
    `troubles    in ${report.days} days: ${list(report.troubles).join(", ")}`,
    `tasks       ${list(report.ends).join(", ")}; ${report.refused} creates came while nothing could be taken`,
    `upstream    asked ${report.asked} times; no task stood still for more than ${seconds(report.longestStandstillMs)} of time to work`,
    `log         ${list(report.logged).join("; ")}`,
    `took        ${seconds(report.elapsedMs)}`,
  ];
  printVerdict(lines, findings, total);
}
