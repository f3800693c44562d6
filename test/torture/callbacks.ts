/*
 * `bun run torture:callbacks`: the compiled server is killed with SIGKILL at its deliveries: when a receiver is connected to, has
 * the request, has answered half of it or all. Receivers accept, refuse, hang, reset and break off. In the end what each of them
 * got must be what the service says it sent: at least once, at most five times, and exactly once where nothing went wrong.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { SVC } from "../helpers/server.ts";
import { printCallbackReport } from "./callbacks-report.ts";
import { type CallbackTortureOptions, runCallbackTorture } from "./callbacks-run.ts";
import { createFindings } from "./findings.ts";
import { whole } from "./options.ts";

const USAGE = `bun run torture:callbacks [--kills 200] [--seed N] [--no-hangs] [--keep]

  --kills     how many times the server is killed
  --seed      decides what is asked, how receivers answer and when the server is killed; printed, so that a run can be repeated
  --no-hangs  without receivers that never answer, which take most of a minute at the end
  --keep      leave the data folder behind
`;
const READ_AT_MOST = 20;

try {
  const options = readOptions(process.argv.slice(2));
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  process.stdout.write(`torture:callbacks: ${options.kills} kills, seed ${options.seed}, ${SVC}\n`);
  const findings = createFindings();
  const report = await runCallbackTorture(options, findings);
  printCallbackReport(report, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

/** @throws Error that says what is wrong with the arguments */
function readOptions(args: readonly string[]): CallbackTortureOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: "string", default: "200" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
      "no-hangs": { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  return {
    kills: whole("--kills", values.kills),
    seed: whole("--seed", values.seed),
    withHangs: !values["no-hangs"],
    keep: values.keep,
  };
}
