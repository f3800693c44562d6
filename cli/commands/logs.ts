import type { Command } from "commander";
import type { LogLine } from "../../src/app/local-logs.ts";
import { LOG_LEVELS, type LogLevel } from "../../src/domain/log-level.ts";
import { interrupted } from "../client/retry.ts";
import { onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import type { Output } from "../format/output.ts";
import { printableLines } from "../format/printable.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../local.ts";

const MOST_LINES = 100_000;

interface LogsFlags extends LocalFlags {
  readonly task?: string;
  readonly key?: string;
  readonly request?: string;
  readonly level?: string;
  readonly last: string;
  readonly follow?: boolean;
}

export function defineLogs(command: Command, context: Context): void {
  withLocalFlags(withCommonFlags(command))
    .option("--task <id>", "lines about this task")
    .option("--key <key>", "requests with this API key, by id or name")
    .option("--request <id>", "lines about the request with this X-Request-ID")
    .option("--level <level>", `lines of this level and graver ones: ${LOG_LEVELS.join(", ")}`)
    .option("-n, --last <lines>", "how many lines, the latest", "100")
    .option("-f, --follow", "go on with what is written from now on, until Ctrl-C");
  withExits(command, "interrupted");
  withExamples(
    command,
    "svc logs --level warn",
    ["svc logs --follow --key web", "what a key asks for, as it comes"],
    "svc logs --task task_01m7z8zvfpegjs21bj52wsn618 --json",
  );
  withNotes(
    command,
    "A server keeps its log in logs/ of the data folder when log.kept_mb says how much. With --follow, --json prints a line of JSON for each line. Times are in UTC.",
  );
  onRun<LogsFlags>(command, context, async ({ options, output }) => logs(options, context, output));
}

async function logs(options: LogsFlags, context: Context, output: Output): Promise<void> {
  const config = readLocalConfig(options, context);
  const query = { ...options, level: readLevel(options.level) };
  const most = readCount(options.last);
  // Loaded late: few commands need it.
  const { logText, readLocalLogs } = await import("../../src/app/local-logs.ts");
  const reading = readLocalLogs(config, query, most);
  if (reading === undefined) throw noLog(showPath(config.dataDir, context.cwd));
  const textOf = (lines: readonly LogLine[]) =>
    lines.map((line) => `${printableLines(logText(line))}\n`).join("");
  try {
    const latest = await reading.latest();
    if (options.follow !== true) {
      output.show({ lines: latest }, () => textOf(latest));
      return;
    }
    const print = (lines: readonly LogLine[]) =>
      context.stdout.write(output.mode === "json" ? lines.map(output.jsonLine).join("") : textOf(lines));
    print(latest);
    const signal = context.interruptible();
    for await (const lines of reading.later(signal)) print(lines);
    throw interrupted();
  } finally {
    reading.stop();
  }
}

function noLog(folder: string): Failure {
  return new Failure(EXIT.notFound, "not_found", `No log is kept in ${folder}.`, {
    hint: "Start the server with --log-kept-mb 64, or log.kept_mb in svc.yaml.",
  });
}

/** @throws Failure (exit 2) */
function readLevel(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined)
    throw usage(`"${text.slice(0, 80)}" is not a level; use ${LOG_LEVELS.join(", ")}.`);
  return level;
}

/** @throws Failure (exit 2) */
function readCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_LINES) return count;
  throw usage(`--last takes a whole number from 1 to ${MOST_LINES}, got "${text.slice(0, 80)}".`);
}
