/*
 * `bun run torture:nodes`: several nodes serve one PostgreSQL database and one folder of files, while clients use all of them. Each node has
 * a network of its own and a clock that is wrong by minutes; the database has a standby that is told of each commit. Round by round
 * something breaks: a node is killed, stopped for longer than its leases, told to end, or loses its network; the connections of all are
 * cut; commits wait; the database is restarted, or its standby takes over. In the end every accepted task must be complete, made once and
 * charged once, and its events and its callback must have come.
 */
import { parseArgs } from "node:util";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { createFindings } from "./findings.ts";
import { CAN_SKEW } from "./nodes-clocks.ts";
import { runNodes } from "./nodes-run.ts";
import { whole } from "./options.ts";

const USAGE = `bun run torture:nodes [--rounds 200] [--nodes 4] [--seed N]

  --rounds  how many times something breaks
  --nodes   how many nodes serve the database
  --seed    decides what breaks and when; printed, so that a run can be repeated
`;
const READ_AT_MOST = 20;

try {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "200" },
      nodes: { type: "string", default: "4" },
      seed: { type: "string" },
    },
  });
  if (!HAS_POSTGRES) throw new Error("There is no PostgreSQL here: initdb and postgres are needed.");
  const options = {
    rounds: whole("--rounds", values.rounds),
    nodes: whole("--nodes", values.nodes),
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole("--seed", values.seed),
  };
  process.stdout.write(
    `torture:nodes: ${options.rounds} rounds, ${options.nodes} nodes, seed ${options.seed}\n`,
  );
  const findings = createFindings();
  const tell = (text: string) => void process.stdout.write(`${text}\n`);
  if (!CAN_SKEW) tell("no clocks are set wrong: there is no libfaketime");
  const report = await runNodes(options, findings, tell);
  const events = Object.entries(report.events).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`${events.join(", ")}\n`);
  process.stdout.write(
    `${report.accepted} tasks accepted of ${report.asked} asked; ${report.resent} creates sent again, ${report.replayed} of them answered before\n`,
  );
  tell(
    `${report.told} events in ${report.connections} streams; ${report.callbacks} callbacks taken, ${report.refused} refused at first`,
  );
  for (const [text, count] of report.errors) tell(`nodes said ${count} times: ${text}`);
  for (const finding of findings.all.slice(0, READ_AT_MOST)) process.stdout.write(`WRONG ${finding}\n`);
  process.stdout.write(findings.all.length === 0 ? "PASS\n" : `FAIL: ${findings.all.length} findings\n`);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
