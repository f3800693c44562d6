/*
 * How fast the compiled executable is, beside bare servers measured in the same run, or beside the executable of another commit.
 *
 *   bun run bench [--only creates,statuses] [--quick] [--strict] [--json FILE] [--record]
 *   bun run bench --against REV [--pairs N] [--only …] [--quick] [--strict] [--json FILE]
 *
 * docs/benchmarks.md says what each does. SVC_BIN names an executable to measure in place of dist/svc.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VERSION } from "../../src/version.ts";
import { BENCH_NAMES, chooseBenches, isOfBuilds } from "./benches/all.ts";
import { compareBenches } from "./compare/against.ts";
import { renderComparison } from "./compare/render.ts";
import { buildCommit, findCommit, readStanding } from "./compare/revision.ts";
import { startLoadGenerator } from "./load/generator.ts";
import { type Options, readOptions } from "./options.ts";
import { keepRecord } from "./record/keep.ts";
import {
  type BenchMeasurement,
  type RunFacts,
  recordComparison,
  recordFigures,
  recordHindrance,
} from "./record/record.ts";
import { ownBuild } from "./run/build.ts";
import { watchContention } from "./run/contention.ts";
import { describeMachine, readMachine } from "./run/machine.ts";
import { killAll } from "./run/process.ts";
import { isMet, renderTable } from "./run/report.ts";
import { createRunner } from "./run/runner.ts";

const ROOT = join(import.meta.dir, "../..");
/** Of one run; a comparison runs each bench often. */
const ROUNDS = { alone: 7, aloneQuick: 3, compared: 3, comparedQuick: 1 };

const args = process.argv.slice(2);
const ownExecutable = process.env.SVC_BIN || undefined;
const options = readOptions(args, ownExecutable);
if ("refusal" in options) refuse(options.refusal);
if (options.json !== undefined && !existsSync(dirname(options.json)))
  refuse(`--json: there is no folder ${dirname(options.json)}.`);
const against = options.against && (await findCommit({ root: ROOT }, options.against));
if (options.against !== undefined && against === undefined)
  refuse(`--against: git knows no commit "${options.against}" here.`);
const build = ownBuild();
const standing = ownExecutable === undefined ? await readStanding({ root: ROOT }) : undefined;
if (options.isRecord && standing?.isDirty !== false)
  refuse("--record: a record is of a commit; commit or stash what is changed.");

const workspace = mkdtempSync(join(tmpdir(), "svc-bench-"));
const load = startLoadGenerator();
for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => {
    killAll();
    rmSync(workspace, { recursive: true, force: true });
    process.exit(exitCode);
  });
}
const runner = createRunner({ workspace, load, isQuick: options.isQuick });
try {
  const isGood = against === undefined ? measure(options) : compare(options, against);
  process.exitCode = (await isGood) ? 0 : 1;
} finally {
  await load.stop();
  rmSync(workspace, { recursive: true, force: true });
}

async function measure({ only, isQuick, isStrict, isRecord, json }: Options): Promise<boolean> {
  const rounds = isQuick ? ROUNDS.aloneQuick : ROUNDS.alone;
  const facts = factsOf(rounds, isQuick);
  const prepared = await runner.prepare(build, "own");
  const lines: BenchMeasurement[] = [];
  const failures: string[] = [];
  for (const [name, bench] of chooseBenches(only)) {
    const startedAt = performance.now();
    const watched = watchContention(load.pid);
    say(`${name} …`);
    const found = await runner.run(bench, prepared, rounds).catch((error: Error) => {
      // What the others measured counts all the same.
      failures.push(`${name} failed: ${error.message.trim()}`);
      return [];
    });
    say(` ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
    // What is promised and was not measured is not kept.
    if (isStrict && found.length === 0 && failures.at(-1)?.startsWith(`${name} `) !== true)
      failures.push(`${name} could not be measured here.`);
    const contention = watched();
    lines.push(...found.map((each) => ({ ...each, bench: name, contention })));
  }
  console.log(`${heading(facts)}\nmedian of ${rounds} interleaved rounds and their spread\n`);
  console.log([renderTable(lines), ...failures].join("\n"));
  const record = recordFigures(facts, lines);
  if (json !== undefined) writeJson(json, record);
  const hindrance = isRecord ? recordHindrance(BENCH_NAMES, lines) : undefined;
  if (hindrance !== undefined) {
    say(`No record was kept: ${hindrance}\n`);
    return false;
  }
  if (isRecord) for (const file of keepRecord(ROOT, record)) say(`${file}\n`);
  return failures.length === 0 && !(isStrict && lines.some((each) => isMet(each) === false));
}

async function compare({ only, isQuick, isStrict, json, pairs }: Options, commit: string): Promise<boolean> {
  say(`Building ${commit} in .cache/bench, unless it is there …\n`);
  const before = await runner.prepare(await buildCommit({ root: ROOT }, commit), "before");
  const after = await runner.prepare(build, "after");
  const rounds = isQuick ? ROUNDS.comparedQuick : ROUNDS.compared;
  const facts = factsOf(rounds, isQuick);
  const benches = await compareBenches(chooseBenches(only), {
    pairs,
    canCompare: isOfBuilds,
    measure: (bench, side) => runner.run(bench, side === "before" ? before : after, rounds),
    watch: () => watchContention(load.pid),
    say,
  });
  const same = standing?.commit === commit && !standing.isDirty ? "; both are the same commit" : "";
  console.log(`${heading(facts)}\nbefore: ${commit.slice(0, 12)}; ${pairs} pairs of runs, medians${same}\n`);
  console.log(renderComparison(benches));
  if (json !== undefined) writeJson(json, recordComparison(facts, commit, pairs, benches));
  const isWorse = benches.some(
    (each) => "lines" in each && each.lines.some(({ verdict }) => verdict === "worse"),
  );
  const hasFailed = benches.some((each) => "notCompared" in each && each.hasFailed);
  return !hasFailed && !(isStrict && isWorse);
}

function factsOf(rounds: number, isQuick: boolean): RunFacts {
  const command = ["bun run bench", ...args].join(" ");
  const machine = readMachine();
  return { version: VERSION, standing, takenAt: new Date(), command, machine, isQuick, rounds };
}

function heading({ machine, version }: RunFacts): string {
  const at =
    standing === undefined
      ? "an executable of unknown commit"
      : `commit ${standing.commit.slice(0, 12)}${standing.isDirty ? " with uncommitted changes" : ""}`;
  return `${describeMachine(machine)}\nsvc ${version}, ${at}`;
}

function writeJson(file: string, record: unknown): void {
  writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`);
}

function refuse(refusal: string): never {
  say(`${refusal}\n`);
  process.exit(2);
}

function say(text: string): void {
  process.stderr.write(text);
}
