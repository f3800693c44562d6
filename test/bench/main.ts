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
import type { Bench } from "./benches/bench.ts";
import { compareBenches } from "./compare/against.ts";
import { renderComparison } from "./compare/render.ts";
import { buildCommit, findCommit, readStanding } from "./compare/revision.ts";
import { startLoadGenerator } from "./load/generator.ts";
import { type Options, readOptions } from "./options.ts";
import { collectPieces } from "./record/collect.ts";
import { keepRecord } from "./record/keep.ts";
import { openPieces } from "./record/pieces.ts";
import { type BenchRun, type RunFacts, recordComparison, recordFigures } from "./record/record.ts";
import { readSources } from "./record/sources.ts";
import { ownBuild } from "./run/build.ts";
import { watchContention } from "./run/contention.ts";
import { describeMachine, readMachine } from "./run/machine.ts";
import { adoptOrphans, killAll } from "./run/process.ts";
import { isMet, renderTable } from "./run/report.ts";
import { createRunner, type Prepared } from "./run/runner.ts";

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
const sources = ownExecutable === undefined ? await readSources(ROOT) : undefined;
if (options.isRecord && (standing?.isDirty !== false || sources === undefined))
  refuse("--record: a record is of a commit; commit or stash what is changed.");

adoptOrphans();
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
  process.exitCode = (await runChosen(options)) ? 0 : 1;
} finally {
  await load.stop();
  rmSync(workspace, { recursive: true, force: true });
}

function runChosen(chosen: Options): Promise<boolean> {
  if (against !== undefined) return compare(chosen, against);
  return chosen.isRecord && sources !== undefined ? record(chosen, sources) : measure(chosen);
}

async function measure({ only, isQuick, isStrict, json }: Options): Promise<boolean> {
  const rounds = isQuick ? ROUNDS.aloneQuick : ROUNDS.alone;
  const facts = factsOf(rounds, isQuick);
  const prepared = await runner.prepare(build, "own");
  const runs: BenchRun[] = [];
  for (const [name, bench] of chooseBenches(only)) runs.push(await runBench(name, bench, prepared, rounds));
  const failures = runs.flatMap(({ bench, failure, lines }) => {
    if (failure !== undefined) return [`${bench} failed: ${failure}`];
    // What is promised and was not measured is not kept.
    return isStrict && lines.length === 0 ? [`${bench} could not be measured here.`] : [];
  });
  report(facts, runs, failures);
  if (json !== undefined) writeJson(json, recordFigures(facts, runs));
  return failures.length === 0 && !(isStrict && runs.some(misses));
}

/** Goes on with the record of this version where an earlier run left it, and keeps it once it is whole. */
async function record({ only, isStrict, json }: Options, hash: string): Promise<boolean> {
  const rounds = ROUNDS.alone;
  const facts = { ...factsOf(rounds, false), command: "bun run bench --record" };
  const pieces = openPieces(ROOT, hash, facts.machine);
  const chosen = new Map(chooseBenches(only));
  let prepared: Prepared | undefined;
  const failures = await collectPieces([...chosen.keys()], {
    pieces,
    async measure(name) {
      prepared ??= await runner.prepare(build, "own");
      const bench = chosen.get(name);
      if (bench === undefined) throw new Error(`No bench "${name}" was chosen.`);
      return runBench(name, bench, prepared, rounds);
    },
    isUnchanged: async () => (await readSources(ROOT)) === hash,
    say,
  });
  const runs = BENCH_NAMES.flatMap((name) => pieces.read(name) ?? []);
  const ofChosen = runs.filter(({ bench }) => chosen.has(bench));
  report(facts, ofChosen, failures);
  const figures = recordFigures(facts, runs);
  if (json !== undefined) writeJson(json, figures);
  const missing = BENCH_NAMES.filter((name) => !runs.some(({ bench }) => bench === name));
  if (missing.length > 0) {
    say(`The record of ${VERSION} still lacks ${missing.join(", ")}.\n`);
    return false;
  }
  for (const file of keepRecord(ROOT, figures)) say(`${file}\n`);
  return !(isStrict && ofChosen.some(misses));
}

async function runBench(name: string, bench: Bench, prepared: Prepared, rounds: number): Promise<BenchRun> {
  const takenAt = new Date().toISOString();
  const startedAt = performance.now();
  const watched = watchContention();
  say(`${name} …`);
  // What the others measured counts all the same.
  const found = await runner.run(bench, prepared, rounds).catch((error: Error) => error);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const contention = watched();
  say(` ${seconds} s${contention === undefined ? "" : `, others ${Math.round(contention * 100)} %`}\n`);
  const run = { bench: name, commit: standing?.commit, takenAt, seconds, contention };
  if (found instanceof Error) return { ...run, lines: [], failure: found.message.trim() };
  return { ...run, lines: found.map((each) => ({ ...each, bench: name, contention })) };
}

function report(facts: RunFacts, runs: readonly BenchRun[], failures: readonly string[]): void {
  console.log(`${heading(facts)}\nmedian of ${facts.rounds} interleaved rounds and their spread\n`);
  console.log([renderTable(runs.flatMap(({ lines }) => lines)), ...failures].join("\n"));
}

function misses({ lines }: BenchRun): boolean {
  return lines.some((each) => isMet(each) === false);
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
    watch: () => watchContention(),
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
  return { version: VERSION, standing, sources, takenAt: new Date(), command, machine, isQuick, rounds };
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
