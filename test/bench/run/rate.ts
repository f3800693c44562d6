import { type LoadGenerator, perSecond } from "../load/generator.ts";
import type { LoadPlan } from "../load/plan.ts";
import { cpuMs, ownCpuUs } from "./process.ts";
import { type Measurement, measurement, type Target } from "./report.ts";

/** What one round of requests came to. */
export interface Rate {
  readonly perSecond: number;
  /** Processor time of the server, all its threads, for one request; undefined where /proc does not tell. */
  readonly cpuUs: number | undefined;
}

export interface RateSubject {
  readonly server: { readonly port: number; readonly pid: number };
  readonly requests: readonly string[];
  readonly connections: number;
  readonly answer?: LoadPlan["answer"];
}

export async function measureRate(load: LoadGenerator, subject: RateSubject, count: number): Promise<Rate> {
  const { server, requests, connections, answer } = subject;
  const before = cpuMs(server.pid);
  const until = { kind: "responses", count } as const;
  const expected = answer === undefined ? {} : { answer };
  const result = await load.run({ port: server.port, connections, requests, until, ...expected });
  const after = cpuMs(server.pid);
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) / count) * 1000;
  return { perSecond: perSecond(result), cpuUs };
}

/** Answers per turn of `measureCosts`: short, so that what slows the machine down slows all subjects. */
const COST_PART = 500;

/**
 * Processor time of one request at each subject, in µs. They take turns, so that each round compares the same moments.
 * @returns a value for each round; none where the system does not tell
 */
export async function measureCosts<Name extends string>(
  load: LoadGenerator,
  subjects: Readonly<Record<Name, RateSubject>>,
  { rounds, count }: { readonly rounds: number; readonly count: number },
): Promise<Record<Name, number[]>> {
  // The keys of `subjects` are its names.
  const names = Object.keys(subjects) as Name[];
  const costs = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  const parts = Math.max(1, Math.round(count / COST_PART));
  for (let round = 0; round < rounds; round++) {
    const spent = new Map<Name, number>();
    for (let part = 0; part < parts; part++) {
      // Whoever comes after another finds what that left to be done, so the order changes.
      const turns = part % 2 === 0 ? names : names.toReversed();
      for (const name of turns) {
        const { server, requests, connections, answer } = subjects[name];
        const before = ownCpuUs(server.pid);
        const until = { kind: "responses", count: COST_PART } as const;
        await load.run({ port: server.port, connections, requests, until, ...(answer && { answer }) });
        const after = ownCpuUs(server.pid);
        if (before !== undefined && after !== undefined)
          spent.set(name, (spent.get(name) ?? 0) + after - before);
      }
    }
    for (const [name, sum] of spent) costs[name].push(sum / (parts * COST_PART));
  }
  return costs;
}

/**
 * Requests per second, and beside it the processor time of each. The second counts no waiting, neither for the disk nor for a
 * core that others use, and is the steadier of the two.
 */
export function rateMeasurement(
  name: string,
  rates: readonly Rate[],
  baseline: { readonly name: string; readonly rates: readonly Rate[] },
  more: Pick<Measurement, "target" | "note" | "renders"> = {},
): Measurement {
  return measurement({
    ...more,
    name,
    unit: "req/s",
    values: rates.map((rate) => rate.perSecond),
    baseline: { name: baseline.name, values: baseline.rates.map((rate) => rate.perSecond) },
    eachUs: { values: cpuOf(rates), baseline: cpuOf(baseline.rates) },
  });
}

/** The processor time of one request, as a figure of its own: for what is promised of it. Nothing where the system does not tell. */
export function costMeasurement(
  name: string,
  rates: readonly Rate[],
  target: Target,
  baseline?: { readonly name: string; readonly rates: readonly Rate[] },
): Measurement[] {
  const values = cpuOf(rates);
  if (values.length === 0) return [];
  const beside = baseline && { baseline: { name: baseline.name, values: cpuOf(baseline.rates) } };
  return [measurement({ name: `${name}: processor time of each`, unit: "µs", values, target, ...beside })];
}

function cpuOf(rates: readonly Rate[]): number[] {
  return rates.map((rate) => rate.cpuUs).filter((value) => value !== undefined);
}
