import type { Report } from "./run.ts";
import { printVerdict } from "./verdict.ts";

/** The report for people, and the verdict as its last line. */
export function printReport(report: Report, findings: readonly string[], total: number): void {
  const { tally, kills, found, unknownSubmissions, files, upstream, database } = report;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const lines = [
    `seed              ${report.seed}`,
    `kills             ${sum(kills)}: ${list(kills)}`,
    `creates           ${tally.accepted} accepted (${tally.replayed} of them learnt by asking again), ${tally.refused} refused, ${tally.lost} unanswered without a key`,
    `tasks             ${tally.completed} completed, ${tally.failed} failed, ${tally.cancelled} cancelled; ${report.reads} reads under load`,
    `found at restarts ${list(found)}`,
    `unknown submits   ${unknownSubmissions.had} the upstream had, ${unknownSubmissions.never} it never got`,
    `start to ready    median ${Math.round(report.readyMs.median)} ms, max ${Math.round(report.readyMs.max)} ms`,
    `start to resumed  median ${Math.round(report.firstEndMs.median)} ms, max ${Math.round(report.firstEndMs.max)} ms (first end of a task found)`,
    `last task ended   ${seconds(report.settledInMs)} after the last restart`,
    `asset files       ${files.referenced} named by assets; ${files.unreferenced} not (${Math.round(files.unreferencedBytes / 1024)} KB), written by work that a kill forestalled`,
    `upstream          ${upstream.operations} operations, ${upstream.refusals} refusals, ${upstream.files} files kept`,
    `data folder       ${database.files} files, ${(database.bytes / 1e6).toFixed(1)} MB`,
    `took              ${seconds(report.elapsedMs)}`,
  ];
  printVerdict(lines, findings, total, report.dataDir);
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function list(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}
