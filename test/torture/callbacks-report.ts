import type { CallbackReport } from "./callbacks-run.ts";
import { printVerdict } from "./verdict.ts";

/** The report for people, and the verdict as its last line. */
export function printCallbackReport(
  report: CallbackReport,
  findings: readonly string[],
  total: number,
): void {
  const { tasks, callbacks, kills, hits } = report;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const list = Object.entries(kills).map(([name, count]) => `${count} ${name}`);
  const sum = Object.values(kills).reduce((all, count) => all + count, 0);
  const lines = [
    `seed         ${report.seed}`,
    `kills        ${sum}: ${list.join(", ")}; ${hits.kills} fell into deliveries and cut off ${hits.sends} sends`,
    `tasks        ${tasks.completed} completed, ${tasks.failed} failed, ${tasks.cancelled} cancelled`,
    `callbacks    ${callbacks.delivered} delivered, ${callbacks.failed} failed, ${callbacks.posts} POSTs arrived`,
    `cut off      ${callbacks.interrupted} sends, of which at least ${callbacks.arrivedInterrupted} had arrived; ${callbacks.repeated} callbacks were accepted more than once for it`,
    `accepting    ${callbacks.accepting} with a receiver that accepts at once; ${callbacks.undisturbed} undisturbed by a kill, each of which came exactly once`,
    `never came   ${callbacks.never} (five sends, each killed before it had left)`,
    `one host     ${report.mostConnections} connections at once at most`,
    `all settled  ${seconds(report.settledInMs)} after the last restart`,
    `took         ${seconds(report.elapsedMs)}`,
  ];
  printVerdict(lines, findings, total, report.dataDir);
}
