/*
 * `bun run torture:bucket`: as `bun run torture`, with the files in a bucket that fails at every tenth call: errors, answers that
 * come late, are lost or cut off, and bytes that change on their way or are stored wrongly. Most files come in parts, so that kills
 * fall among them. In the end no task is completed without its bytes, none was charged twice, and nothing is left in the bucket that
 * nobody refers to once the collector has come.
 */
import { existsSync } from "node:fs";
import { SVC } from "../helpers/server.ts";
import { openBucketStore, rehearseLarge } from "./bucket-store.ts";
import { createFindings } from "./findings.ts";
import { createTimedKiller } from "./killer.ts";
import { readKillOptions } from "./options.ts";
import { printReport } from "./report.ts";
import { runTorture } from "./run.ts";

const USAGE = `bun run torture:bucket [--kills 20] [--seed N] [--keep]

  --kills  how many times the server is killed
  --seed   decides what is asked, what fails and when it is killed; printed, so that a run can be repeated
  --keep   leave the data folder behind
`;
const READ_AT_MOST = 20;
/** A bucket that fails makes everything slower. */
const LIFETIME = { minMs: 100, maxMs: 4_000 };

try {
  const { kills, seed, keep } = readKillOptions(process.argv.slice(2), 20);
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  process.stdout.write(`torture:bucket: ${kills} kills, seed ${seed}, ${SVC}\n`);
  const findings = createFindings();
  const store = await openBucketStore(seed);
  const killer = createTimedKiller(seed, LIFETIME);
  const report = await runTorture({ kills, seed, keep, killer, store, rehearse: rehearseLarge }, findings);
  store.stop();
  const { requests, faults, uploads } = store.seen;
  const kinds = [...faults].map(([name, count]) => `${count} ${name}`).join(", ");
  process.stdout.write(`\nbucket            ${requests} requests until the last kill; faults: ${kinds}\n`);
  process.stdout.write(`                  ${uploads} unfinished uploads were left by kills\n`);
  printReport(report, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
