import { createDice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import type { KillOptions } from "./options.ts";
import { type Report, runTorture } from "./run.ts";
import { createSyscallKiller, type DecideEnding } from "./syscalls-killer.ts";
import { type Beginning, killStart } from "./syscalls-starts.ts";

export interface SyscallReport {
  readonly serving: Report;
  /** Kills that came, by what stood in the folder before. */
  readonly starts: Readonly<Record<Beginning, number>>;
}

/** Of all kills, the shares that fall into first starts and into migrations. The others fall into a server that is used. */
const START_SHARES = { "first start": 0.15, migration: 0.15 } as const satisfies Record<Beginning, number>;
/** The starts among a run's kills, for its report. */
export function startsOf({ starts }: SyscallReport): string {
  return Object.entries(starts)
    .map(([name, kills]) => `${kills} of a ${name}`)
    .join(", ");
}

/** How many starts are tried for each kill that must come: not every call comes as often as it is waited for. */
const TRIES_PER_KILL = 5;

/** Ends first starts, migrations and a server in use at system calls, and checks after each end and at rest. */
export async function runSyscallTorture(
  options: KillOptions,
  decide: DecideEnding,
  findings: Findings,
): Promise<SyscallReport> {
  const starts = { "first start": 0, migration: 0 };
  for (const beginning of Object.keys(starts) as Beginning[]) {
    const wanted = Math.max(1, Math.round(options.kills * START_SHARES[beginning]));
    const dice = createDice(options.seed, beginning);
    starts[beginning] = await killStarts(beginning, wanted, { dice, decide, findings });
  }
  const left = options.kills - starts["first start"] - starts.migration;
  const killer = createSyscallKiller(options.seed, decide);
  const serving = await runTorture({ ...options, kills: left, killer }, findings);
  const { "at no call": _, ...came } = serving.kills;
  const kills = [...Object.values(came), ...Object.values(starts)].reduce((sum, count) => sum + count, 0);
  findings.check(kills >= options.kills, () => `only ${kills} of ${options.kills} kills came`);
  return { serving, starts };
}

async function killStarts(
  beginning: Beginning,
  wanted: number,
  to: Parameters<typeof killStart>[1],
): Promise<number> {
  let came = 0;
  for (let tries = 0; came < wanted && tries < wanted * TRIES_PER_KILL; tries++) {
    if (await killStart(beginning, to)) came++;
    if (came % 20 === 0 && came > 0)
      process.stdout.write(`  ${beginning}: ${came} kills, ${to.findings.all.length} findings\n`);
  }
  return came;
}
