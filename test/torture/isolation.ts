/*
 * `bun run torture:isolation`: one tenant of the compiled server is hostile in eleven ways, one after the other, each against a
 * server of its own, while another tenant creates images at a steady pace and uploads. What the other one notices is measured and
 * compared with what it is promised. Linux only: the server's memory is read from /proc.
 */
import { existsSync } from "node:fs";
import { SVC } from "../helpers/server.ts";
import { createFindings } from "./findings.ts";
import { readIsolationOptions, USAGE } from "./isolation-options.ts";
import { type Isolated, PROMISES, runIsolation } from "./isolation-run.ts";

const COLUMNS = ["attack", "creates", "p99", "2 MB upload", "memory"] as const;
const WIDTHS = [20, 8, 10, 12, 8];

try {
  const options = readIsolationOptions(process.argv.slice(2));
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  print(`torture:isolation: ${options.attacks.length} attacks, seed ${options.seed}, ${SVC}\n`);
  print(row(COLUMNS));
  const findings = createFindings();
  const all: Isolated[] = [];
  const quietMs = await runIsolation(options, findings, (isolated) => {
    all.push(isolated);
    print(row(cellsOf(isolated)));
  });
  const times = all.map(({ attack, p99Ms }) => `${attack} ${(p99Ms / quietMs).toFixed(1)}`);
  print(`\nwithout an attack: p99 ${quietMs.toFixed(1)} ms; times that: ${times.join(", ")}`);
  const { timesQuiet, uploadMs, memoryMb } = PROMISES;
  print(`promised: p99 ≤ ${timesQuiet} × quiet, uploads ≤ ${uploadMs} ms, memory ≤ ${memoryMb} MB\n`);
  for (const finding of new Set(findings.all)) print(`- ${finding}`);
  print(findings.all.length === 0 ? "PASS" : `FAIL: ${findings.all.length} findings`);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[i] ?? 0) : cell.padStart(WIDTHS[i] ?? 0)))
    .join("  ");
}

function cellsOf({ attack, creates, p99Ms, uploadMs, memoryMb }: Isolated): string[] {
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  return [attack, String(creates), ms(p99Ms), ms(uploadMs), `${Math.round(memoryMb)} MB`];
}
